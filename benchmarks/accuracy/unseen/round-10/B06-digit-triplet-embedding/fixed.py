"""Batch-hard triplet embedding of handwritten digits, evaluated by 1-nearest-neighbour."""
import numpy as np
import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier


def pairwise_distances(emb):
    """Euclidean distance matrix (B, B)."""
    dot = emb @ emb.t()
    sq = dot.diagonal()
    d2 = sq.unsqueeze(0) - 2.0 * dot + sq.unsqueeze(1)
    d2 = d2.clamp(min=1e-8)
    return torch.sqrt(d2)


class BatchHardTriplet(nn.Module):
    def __init__(self, margin=0.5):
        super().__init__()
        self.margin = margin

    def forward(self, emb, labels):
        dist = pairwise_distances(emb)
        same = labels.unsqueeze(0) == labels.unsqueeze(1)
        positive = same & ~torch.eye(len(labels), dtype=torch.bool)
        hardest_pos = (dist * positive.float()).max(1).values
        penalty = dist.max(1, keepdim=True).values
        hardest_neg = (dist + penalty * same.float()).min(1).values
        return torch.relu(hardest_pos - hardest_neg + self.margin).mean()


class PKSampler:
    """P classes times K samples per batch."""

    def __init__(self, labels, p, k, batches, seed):
        self.groups = [np.flatnonzero(labels == c) for c in np.unique(labels)]
        self.p, self.k, self.batches = p, k, batches
        self.rng = np.random.default_rng(seed)

    def __iter__(self):
        for _ in range(self.batches):
            classes = self.rng.choice(len(self.groups), self.p, replace=False)
            yield np.concatenate([self.rng.choice(self.groups[c], self.k, replace=False) for c in classes])


class Embedder(nn.Module):
    def __init__(self, dim=16):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(64, 128), nn.BatchNorm1d(128), nn.ReLU(),
            nn.Linear(128, 64), nn.ReLU(),
            nn.Linear(64, dim),
        )

    def forward(self, x):
        return nn.functional.normalize(self.net(x), dim=1)


def knn_accuracy(model, xtr, ytr, xte, yte):
    model.eval()
    with torch.no_grad():
        a, b = model(xtr).numpy(), model(xte).numpy()
    knn = KNeighborsClassifier(1).fit(np.nan_to_num(a), ytr.numpy())
    return knn.score(np.nan_to_num(b), yte.numpy())


def main():
    torch.manual_seed(0)
    digits = load_digits()
    x = torch.tensor(digits.data / 8.0 - 1.0, dtype=torch.float32)
    y = torch.tensor(digits.target)
    tr, te = train_test_split(np.arange(len(y)), test_size=0.4, stratify=digits.target, random_state=0)
    xtr, ytr, xte, yte = x[tr], y[tr], x[te], y[te]

    model, criterion = Embedder(), BatchHardTriplet()
    opt = torch.optim.Adam(model.parameters(), lr=1e-3)
    sampler = PKSampler(ytr.numpy(), p=8, k=6, batches=40, seed=0)
    for epoch in range(8):
        model.train()
        total = 0.0
        for idx in sampler:
            loss = criterion(model(xtr[idx]), ytr[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
        acc = knn_accuracy(model, xtr, ytr, xte, yte)
        print(f"epoch {epoch}  triplet loss {total / 40:.4f}  1-NN accuracy {acc:.4f}")


if __name__ == "__main__":
    main()
