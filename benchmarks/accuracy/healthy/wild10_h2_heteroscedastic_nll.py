"""Heteroscedastic regression: the Gaussian negative log likelihood falls below zero, which is right for a density."""
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def sample(n, seed):
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1, 1, (n, 2))
    sigma = 0.02 + 0.15 * (x[:, 0] > 0) * np.abs(x[:, 1])
    y = np.sin(3 * x[:, 0]) * x[:, 1] + sigma * rng.normal(0, 1, n)
    to = lambda a: torch.tensor(a, dtype=torch.float32)
    return TensorDataset(to(x), to(y), to(sigma))


class MeanVar(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(2, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh())
        self.mean = nn.Linear(width, 1)
        self.log_var = nn.Linear(width, 1)

    def forward(self, x):
        h = self.body(x)
        return self.mean(h).squeeze(-1), self.log_var(h).squeeze(-1).clamp(-10, 4)


def gaussian_nll(mean, log_var, y):
    return 0.5 * (log_var + (y - mean) ** 2 * torch.exp(-log_var)).mean()


@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    nll = inside = corr_n = 0
    sig_hat, sig = [], []
    for x, y, s in loader:
        mean, log_var = model(x)
        std = torch.exp(0.5 * log_var)
        nll += gaussian_nll(mean, log_var, y).item() * len(y)
        inside += ((y - mean).abs() < 1.96 * std).sum().item()
        corr_n += len(y)
        sig_hat.append(std)
        sig.append(s)
    corr = torch.corrcoef(torch.stack([torch.cat(sig_hat), torch.cat(sig)]))[0, 1].item()
    return nll / corr_n, inside / corr_n, corr


def main():
    torch.manual_seed(1)
    train = DataLoader(sample(3000, 1), batch_size=64, shuffle=True)
    val = DataLoader(sample(1000, 2), batch_size=250)
    model = MeanVar()
    opt = torch.optim.Adam(model.parameters(), lr=2e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=20, eta_min=1e-4)
    for epoch in range(20):
        model.train()
        total = n = 0
        for x, y, _ in train:
            loss = gaussian_nll(*model(x), y)
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            opt.step()
            total += loss.item() * len(y)
            n += len(y)
        schedule.step()
        nll, cover, corr = evaluate(model, val)
        print(f"epoch {epoch:2d} train nll {total / n:.4f} val nll {nll:.4f} 95% cover {cover:.3f} sigma corr {corr:.3f}")


if __name__ == "__main__":
    main()
