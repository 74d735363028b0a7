"""Digit recognition with two auxiliary regressions, losses balanced by learned task uncertainty."""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch.utils.data import DataLoader, TensorDataset


class UncertaintyWeighting(nn.Module):
    """Kendall et al.: sum_i exp(-s_i) * L_i + s_i with one learnable s_i per task."""

    def __init__(self, n_tasks):
        super().__init__()
        self.log_vars = nn.Parameter(torch.zeros(n_tasks))

    def forward(self, losses):
        losses = torch.stack(losses)
        return (torch.exp(-self.log_vars) * losses + self.log_vars).sum()


class MultiTaskNet(nn.Module):
    def __init__(self, hidden=20):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(64, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU())
        self.digit = nn.Linear(hidden, 10)
        self.thickness = nn.Linear(hidden, 1)
        self.slant = nn.Linear(hidden, 1)

    def forward(self, x):
        h = self.trunk(x)
        return self.digit(h), self.thickness(h).squeeze(1), self.slant(h).squeeze(1)


def load_data(seed=0):
    """Digit label plus two rough stroke measurements from a noisy instrument."""
    rng = np.random.default_rng(seed)
    d = load_digits()
    ink = d.images.sum((1, 2))
    ink = (ink - ink.mean()) / ink.std()
    cols = (d.images * np.arange(8)).sum((1, 2)) / d.images.sum((1, 2))
    slant = (cols - cols.mean()) / cols.std()
    ink = ink + rng.normal(0, 5.0, len(ink))
    slant = slant + rng.normal(0, 5.0, len(ink))
    x = torch.tensor(d.data / 8.0 - 1, dtype=torch.float32)
    y = torch.tensor(d.target)
    aux = torch.tensor(np.stack([ink, slant], 1), dtype=torch.float32)
    tr, te = train_test_split(np.arange(len(y)), test_size=0.3, stratify=d.target, random_state=seed)
    return TensorDataset(x[tr], y[tr], aux[tr]), TensorDataset(x[te], y[te], aux[te])


def task_losses(outputs, label, aux):
    logits, thick, slant = outputs
    return [F.cross_entropy(logits, label), F.mse_loss(thick, aux[:, 0]), F.mse_loss(slant, aux[:, 1])]


def evaluate(model, data):
    model.eval()
    x, y, aux = data.tensors
    with torch.no_grad():
        out = model(x)
        losses = task_losses(out, y, aux)
    acc = (out[0].argmax(1) == y).float().mean().item()
    return acc, [l.item() for l in losses]


def main():
    torch.manual_seed(9)
    train, test = load_data()
    loader = DataLoader(train, batch_size=32, shuffle=True)
    model = MultiTaskNet()
    weighting = UncertaintyWeighting(3)
    optimizer = torch.optim.Adam([*model.parameters(), *weighting.parameters()], lr=3e-3)
    for epoch in range(1, 26):
        model.train()
        total = 0.0
        for x, y, aux in loader:
            loss = weighting(task_losses(model(x), y, aux))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        if epoch % 5 == 0:
            acc, parts = evaluate(model, test)
            s = ", ".join(f"{v:.2f}" for v in weighting.log_vars.tolist())
            print(f"epoch {epoch:2d} loss {total / len(loader):.3f} digit acc {acc:.4f} ce {parts[0]:.4f} mse {parts[1]:.2f}/{parts[2]:.2f} s=[{s}]")


if __name__ == "__main__":
    main()
