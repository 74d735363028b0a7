"""SimCLR-style pre-training on digits, then a linear probe with few labels."""
import argparse

import numpy as np
import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Jitter:
    """Shift, occlude and add noise. The generator keeps runs repeatable across machines."""

    def __init__(self, shift=1, hole=2, noise=0.1):
        self.shift, self.hole, self.noise = shift, hole, noise

    def __call__(self, img, rng):
        dy, dx = rng.integers(-self.shift, self.shift + 1, 2)
        pad = self.shift
        img = np.pad(img, pad)[pad + dy:pad + dy + 8, pad + dx:pad + dx + 8].copy()
        y, x = rng.integers(0, 8 - self.hole + 1, 2)
        img[y:y + self.hole, x:x + self.hole] = 0.0
        img = img * rng.uniform(0.7, 1.3) + self.noise * rng.standard_normal(img.shape)
        return img.astype(np.float32)


class PairDataset(Dataset):
    def __init__(self, images, augment, seed):
        self.images, self.augment, self.seed = images, augment, seed
        self.epoch = 0

    def __len__(self):
        return len(self.images)

    def view(self, i, which):
        rng = np.random.default_rng((self.seed, self.epoch, i, which))
        return torch.from_numpy(self.augment(self.images[i], rng))[None]

    def __getitem__(self, i):
        return self.view(i, 0), self.view(i, 1)


class Encoder(nn.Module):
    def __init__(self, width=64, proj=32):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(1, 24, 3, padding=1), nn.BatchNorm2d(24), nn.ReLU(),
            nn.Conv2d(24, 48, 3, padding=1, stride=2), nn.BatchNorm2d(48), nn.ReLU(),
            nn.Flatten(), nn.Linear(48 * 16, width))
        self.head = nn.Sequential(nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, proj))

    def forward(self, x):
        return self.head(self.body(x))


def nt_xent(za, zb, temperature):
    z = F.normalize(torch.cat([za, zb]), dim=1)
    sim = z @ z.t() / temperature
    sim.fill_diagonal_(float("-inf"))
    n = len(za)
    partner = torch.arange(2 * n).roll(n)
    return F.cross_entropy(sim, partner)


@torch.no_grad()
def features(model, images):
    model.eval()
    return model.body(torch.from_numpy(images)[:, None]).numpy()


def probe(model, train, ytr, valid, yva, per_class=5):
    chosen = np.concatenate([np.flatnonzero(ytr == c)[:per_class] for c in range(10)])
    clf = LogisticRegression(max_iter=3000).fit(features(model, train[chosen]), ytr[chosen])
    return clf.score(features(model, valid), yva)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=6)
    ap.add_argument("--batch-size", type=int, default=96)
    ap.add_argument("--temperature", type=float, default=0.3)
    ap.add_argument("--lr", type=float, default=2e-3)
    ap.add_argument("--seed", type=int, default=1)
    args = ap.parse_args()
    torch.manual_seed(args.seed)
    digits = load_digits()
    images = (digits.images / 16.0).astype(np.float32)
    xtr, xva, ytr, yva = train_test_split(images, digits.target, test_size=0.3, stratify=digits.target,
                                          random_state=args.seed)
    mean, std = xtr.mean(), xtr.std()
    xtr, xva = (xtr - mean) / std, (xva - mean) / std
    data = PairDataset(xtr, Jitter(), args.seed)
    loader = DataLoader(data, args.batch_size, shuffle=True, drop_last=True)
    model = Encoder()
    opt = torch.optim.AdamW(model.parameters(), lr=args.lr, weight_decay=1e-4)
    print(f"probe before training {probe(model, xtr, ytr, xva, yva):.3f}")
    for epoch in range(args.epochs):
        model.train()
        data.epoch = epoch
        total = 0.0
        for a, b in loader:
            loss = nt_xent(model(a), model(b), args.temperature)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
        if epoch % 2 == 1:
            print(f"epoch {epoch + 1:2d}  contrastive {total / len(loader):.4f}  "
                  f"probe accuracy {probe(model, xtr, ytr, xva, yva):.3f}")


if __name__ == "__main__":
    main()
