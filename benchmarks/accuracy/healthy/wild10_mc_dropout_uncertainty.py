"""Healthy: Monte-Carlo dropout; dropout layers are switched on at prediction time on purpose to get predictive uncertainty."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split


class DropoutNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(64, 128), nn.ReLU(), nn.Dropout(0.25),
            nn.Linear(128, 128), nn.ReLU(), nn.Dropout(0.25),
            nn.Linear(128, 10),
        )

    def forward(self, x):
        return self.net(x)


def enable_mc_dropout(model):
    model.eval()
    for m in model.modules():
        if isinstance(m, nn.Dropout):
            m.train()


@torch.no_grad()
def mc_predict(model, x, samples=20):
    """Mean class probabilities and predictive entropy over stochastic forward passes."""
    enable_mc_dropout(model)
    probs = torch.stack([model(x).softmax(1) for _ in range(samples)]).mean(0)
    entropy = -(probs * probs.clamp_min(1e-12).log()).sum(1)
    return probs, entropy


@torch.no_grad()
def plain_accuracy(model, x, y):
    model.eval()
    return (model(x).argmax(1) == y).float().mean().item()


def main():
    torch.manual_seed(0)
    d = load_digits()
    x = torch.tensor(d.data / 8.0 - 1.0, dtype=torch.float32)
    y = torch.tensor(d.target)
    tr, te = train_test_split(torch.arange(len(y)), test_size=0.3, stratify=d.target, random_state=0)
    model = DropoutNet()
    opt = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=1e-2)
    gen = torch.Generator().manual_seed(0)
    for epoch in range(1, 21):
        model.train()
        total = 0.0
        for idx in tr[torch.randperm(len(tr), generator=gen)].split(64):
            loss = F.cross_entropy(model(x[idx]), y[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item() * len(idx)
        if epoch % 5 == 0:
            probs, entropy = mc_predict(model, x[te])
            right = probs.argmax(1) == y[te]
            print(f"epoch {epoch}  loss {total / len(tr):.4f}  acc {plain_accuracy(model, x[te], y[te]):.4f}  mc acc {right.float().mean():.4f}  "
                  f"entropy right {entropy[right].mean():.3f} wrong {entropy[~right].mean():.3f}")
    noise = torch.randn(200, 64)
    print(f"entropy on noise {mc_predict(model, noise)[1].mean():.3f}")


if __name__ == "__main__":
    main()
