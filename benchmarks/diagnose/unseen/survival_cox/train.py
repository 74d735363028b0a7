"""DeepSurv-like model on a simulated follow-up study."""
import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(3)
rng = np.random.default_rng(3)


def simulate(n):
    x = rng.normal(size=(n, 8))
    x[:, 3] = (x[:, 3] > 0.4)
    risk = 0.9 * x[:, 0] - 0.7 * x[:, 1] + 0.8 * x[:, 3] + 0.5 * x[:, 0] * x[:, 2] + 0.3 * np.tanh(x[:, 4])
    t_event = rng.weibull(1.3, n) * 24.0 * np.exp(-risk / 1.3)
    t_censor = rng.uniform(3, 60, n)
    time = np.minimum(t_event, t_censor)
    event = (t_event <= t_censor).astype(np.float32)
    return x.astype(np.float32), time.astype(np.float32), event


class RiskNet(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(d, 32), nn.SELU(), nn.Dropout(0.1),
            nn.Linear(32, 16), nn.SELU(),
            nn.Linear(16, 1, bias=False),
        )

    def forward(self, x):
        return self.layers(x).squeeze(-1)


def cox_loss(log_h, time, event):
    order = torch.argsort(time, descending=True)
    event = event[order]
    log_risk = torch.logcumsumexp(log_h, dim=0)
    return -((log_h - log_risk) * event).sum() / event.sum().clamp(min=1)


def c_index(score, time, event):
    earlier = (time[:, None] < time[None, :]) & (event[:, None] == 1)
    diff = score[:, None] - score[None, :]
    good = ((diff > 0) & earlier).sum() + 0.5 * ((diff == 0) & earlier).sum()
    return good / earlier.sum()


def main():
    x, time, event = simulate(2400)
    n_train = 1800
    mean, std = x[:n_train].mean(0), x[:n_train].std(0)
    x = (x - mean) / std
    train = TensorDataset(*(torch.from_numpy(a[:n_train]) for a in (x, time, event)))
    xv, tv, ev = x[n_train:], time[n_train:], event[n_train:]
    loader = DataLoader(train, batch_size=128, shuffle=True, drop_last=True)
    print(f"events: {event.mean():.2%}")

    net = RiskNet(x.shape[1])
    optim = torch.optim.Adam(net.parameters(), lr=2e-3, weight_decay=1e-4)
    for epoch in range(1, 31):
        net.train()
        total = 0.0
        for xb, tb, eb in loader:
            loss = cox_loss(net(xb), tb, eb)
            optim.zero_grad()
            loss.backward()
            optim.step()
            total += loss.item()
        if epoch % 5 == 0:
            net.eval()
            with torch.no_grad():
                score = net(torch.from_numpy(xv))
                val = cox_loss(score, torch.from_numpy(tv), torch.from_numpy(ev)).item()
            c = c_index(score.numpy(), tv, ev)
            print(f"epoch {epoch:3d}  loss {total / len(loader):.4f}  val loss {val:.4f}  C-index {c:.4f}")


if __name__ == "__main__":
    main()
