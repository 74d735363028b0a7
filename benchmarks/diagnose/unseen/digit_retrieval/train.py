"""Embeddings for digit retrieval: batch-hard triplets, recall@1 and nearest-centroid accuracy."""
import numpy as np
import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn


class Embedder(nn.Module):
    def __init__(self, dim=16):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(64, 128), nn.ReLU(),
            nn.Linear(128, 64), nn.ReLU(),
            nn.Linear(64, dim),
        )

    def forward(self, x):
        return self.net(x)


def pairwise_distances(z):
    square = (z ** 2).sum(1)
    d2 = square[:, None] + square[None, :] - 2 * z @ z.t()
    return (d2.clamp(min=0) + 1e-8).sqrt()


class BatchHardTriplet(nn.Module):
    """For each anchor the farthest positive and the closest negative of the batch (Hermans et al.)."""

    def __init__(self, margin=1.0):
        super().__init__()
        self.margin = margin

    def forward(self, z, labels):
        dist = pairwise_distances(z)
        same = labels[:, None] == labels[None, :]
        eye = torch.eye(len(labels), dtype=torch.bool)
        hardest_positive = (dist * (same & ~eye)).max(dim=1).values
        hardest_negative = (dist * ~same).min(dim=1).values
        return torch.relu(hardest_positive - hardest_negative + self.margin).mean()


class BalancedBatches:
    """P classes with K samples each."""

    def __init__(self, labels, p=8, k=6, batches=60, seed=0):
        self.rng = np.random.default_rng(seed)
        self.by_class = {c: np.flatnonzero(labels == c) for c in np.unique(labels)}
        self.p, self.k, self.batches = p, k, batches

    def __len__(self):
        return self.batches

    def __iter__(self):
        for _ in range(self.batches):
            classes = self.rng.choice(list(self.by_class), self.p, replace=False)
            yield np.concatenate([self.rng.choice(self.by_class[c], self.k, replace=False) for c in classes])


class Trainer:
    def __init__(self, model, criterion, lr=1e-3):
        self.model, self.criterion = model, criterion
        self.optimizer = torch.optim.Adam(model.parameters(), lr=lr)
        self.history = []

    def fit(self, x, y, batches, epochs, val):
        for epoch in range(epochs):
            self.model.train()
            losses = []
            for index in batches:
                loss = self.criterion(self.model(x[index]), y[index])
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
                losses.append(loss.item())
            self.history.append(np.mean(losses))
            print(f"epoch {epoch + 1:2d}  triplet loss {self.history[-1]:.4f}  recall@1 {self.recall(x, y, *val):.3f}")

    @torch.no_grad()
    def recall(self, gallery, gallery_y, query, query_y):
        self.model.eval()
        d = torch.cdist(self.model(query), self.model(gallery))
        return (gallery_y[d.argmin(1)] == query_y).float().mean().item()

    @torch.no_grad()
    def centroid_accuracy(self, x, y, query, query_y):
        self.model.eval()
        z = self.model(x)
        centres = torch.stack([z[y == c].mean(0) for c in range(10)])
        return (torch.cdist(self.model(query), centres).argmin(1) == query_y).float().mean().item()


def main():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    data = load_digits()
    x = (data.data / 16.0).astype("float32")
    xtr, xte, ytr, yte = train_test_split(x, data.target, test_size=0.25, random_state=0, stratify=data.target)
    xtr, xte, ytr, yte = map(torch.from_numpy, (xtr, xte, ytr, yte))
    trainer = Trainer(Embedder(), BatchHardTriplet(margin=1.0))
    trainer.fit(xtr, ytr, BalancedBatches(ytr.numpy()), epochs=12, val=(xte, yte))
    print(f"nearest-centroid accuracy {trainer.centroid_accuracy(xtr, ytr, xte, yte):.3f}")


if __name__ == "__main__":
    main()
