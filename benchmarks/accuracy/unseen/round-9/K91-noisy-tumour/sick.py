"""Tumour table with unreliable training labels: train long, keep the checkpoint that validates best."""
import argparse
from pathlib import Path

import numpy as np
import torch
import torch.nn as nn
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from torch.utils.data import DataLoader, TensorDataset


class BestKeeper:
    """Remembers the weights with the best score; always held on the CPU so that it is cheap on a GPU."""

    def __init__(self, mode="max"):
        self.sign = 1 if mode == "max" else -1
        self.score, self.epoch, self.state = -float("inf"), -1, None

    def offer(self, score, epoch, model):
        if self.sign * score > self.score:
            self.score, self.epoch = self.sign * score, epoch
            self.state = {k: v.detach().cpu() for k, v in model.state_dict().items()}
            return True
        return False

    def restore(self, model):
        model.load_state_dict(self.state)
        return model


def prepare(noise, seed):
    x, y = load_breast_cancer(return_X_y=True)
    x, xt, y, yt = train_test_split(x, y, test_size=0.3, stratify=y, random_state=seed)
    x, xv, y, yv = train_test_split(x, y, test_size=0.3, stratify=y, random_state=seed)
    rng = np.random.default_rng(seed)
    flip = rng.random(len(y)) < noise
    y = np.where(flip, 1 - y, y)
    sc = StandardScaler().fit(x)
    pack = lambda a, b: TensorDataset(torch.tensor(sc.transform(a), dtype=torch.float32),
                                      torch.tensor(b, dtype=torch.float32))
    return pack(x, y), pack(xv, yv), pack(xt, yt)


def build(width):
    return nn.Sequential(nn.Linear(30, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 1))


@torch.no_grad()
def evaluate(model, ds):
    model.eval()
    x, y = ds.tensors
    z = model(x).squeeze(1)
    loss = nn.functional.binary_cross_entropy_with_logits(z, y).item()
    return loss, ((z > 0) == (y > 0.5)).float().mean().item()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=60)
    p.add_argument("--noise", type=float, default=0.25)
    p.add_argument("--width", type=int, default=128)
    p.add_argument("--lr", type=float, default=1e-3)
    p.add_argument("--out", type=Path, default=None)
    a = p.parse_args()
    torch.manual_seed(1)
    train_set, valid_set, test_set = prepare(a.noise, 1)
    loader = DataLoader(train_set, batch_size=32, shuffle=True)
    model = build(a.width)
    opt = torch.optim.Adam(model.parameters(), lr=a.lr)
    crit = nn.BCEWithLogitsLoss()
    keeper = BestKeeper(mode="min")
    for epoch in range(a.epochs):
        model.train()
        tot = 0.0
        for x, y in loader:
            opt.zero_grad()
            loss = crit(model(x).squeeze(1), y)
            loss.backward()
            opt.step()
            tot += loss.item() * len(y)
        vl, va = evaluate(model, valid_set)
        best = keeper.offer(vl, epoch, model)
        if epoch % 10 == 0 or epoch == a.epochs - 1:
            print(f"epoch {epoch:2d} train {tot / len(train_set):.3f} valid {vl:.3f} acc {va:.3f}{' *' if best else ''}")
    keeper.restore(model)
    vl, va = evaluate(model, valid_set)
    tl, ta = evaluate(model, test_set)
    print(f"best epoch {keeper.epoch}: valid {vl:.3f} acc {va:.3f} | test {tl:.3f} acc {ta:.3f}")
    if a.out:
        torch.save(keeper.state, a.out)


if __name__ == "__main__":
    main()
