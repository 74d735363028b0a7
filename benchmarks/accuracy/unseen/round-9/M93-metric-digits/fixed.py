"""Metric learning on the digits: embedding trained with triplets, scored by nearest neighbours."""
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn


@dataclass
class Config:
    dim: int = 16
    margin: float = 0.3
    classes_per_batch: int = 6
    samples_per_class: int = 8
    steps: int = 300
    lr: float = 1e-3
    metric: str = "euclidean"
    seed: int = 11


class Embedder(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(),
            nn.Conv2d(16, 32, 3, padding=1, stride=2), nn.BatchNorm2d(32), nn.ReLU(),
            nn.Flatten(), nn.Linear(32 * 16, dim),
        )

    def forward(self, x):
        return F.normalize(self.net(x), dim=1)


class BalancedSampler:
    def __init__(self, labels, n_classes, n_samples, rng):
        self.pools = {c: np.flatnonzero(labels == c) for c in np.unique(labels)}
        self.n_classes, self.n_samples, self.rng = n_classes, n_samples, rng

    def draw(self):
        classes = self.rng.choice(list(self.pools), self.n_classes, replace=False)
        return np.concatenate([self.rng.choice(self.pools[c], self.n_samples, replace=False) for c in classes])


def pairwise(emb, metric):
    if metric == "cosine":
        return 1.0 - emb @ emb.t()
    sq = (2.0 - 2.0 * emb @ emb.t()).clamp_min(1e-8)
    return sq.sqrt()


def triplet_loss(emb, labels, cfg):
    dist = pairwise(emb, cfg.metric)
    same = labels[:, None] == labels[None, :]
    eye = torch.eye(len(labels), dtype=torch.bool)
    pos = same & ~eye
    neg = ~same
    ap = dist.masked_fill(~pos, float("-inf")).amax(dim=1)
    an = dist.masked_fill(~neg, float("inf")).amin(dim=1)
    loss = F.relu(ap - an + cfg.margin)
    return loss.mean(), (loss > 0).float().mean()


@torch.no_grad()
def knn_accuracy(model, gallery, gallery_y, query, query_y, k=5):
    model.eval()
    sim = model(query) @ model(gallery).t()
    votes = gallery_y[sim.topk(k, dim=1).indices]
    pred = votes.mode(dim=1).values
    return (pred == query_y).float().mean().item()


def main():
    cfg = Config()
    torch.manual_seed(cfg.seed)
    rng = np.random.default_rng(cfg.seed)
    data = load_digits()
    images = (data.images / 16.0).astype(np.float32)[:, None]
    tr_x, va_x, tr_y, va_y = train_test_split(images, data.target, test_size=0.3,
                                              stratify=data.target, random_state=cfg.seed)
    mean, std = tr_x.mean(), tr_x.std()
    tr_x, va_x = (torch.from_numpy((a - mean) / std) for a in (tr_x, va_x))
    tr_lab, va_lab = torch.from_numpy(tr_y), torch.from_numpy(va_y)

    model = Embedder(cfg.dim)
    opt = torch.optim.Adam(model.parameters(), lr=cfg.lr)
    sampler = BalancedSampler(tr_y, cfg.classes_per_batch, cfg.samples_per_class, rng)
    running = []
    for step in range(1, cfg.steps + 1):
        model.train()
        idx = torch.from_numpy(sampler.draw())
        loss, active = triplet_loss(model(tr_x[idx]), tr_lab[idx], cfg)
        opt.zero_grad(set_to_none=True)
        loss.backward()
        opt.step()
        running.append(loss.item())
        if step % 50 == 0:
            acc = knn_accuracy(model, tr_x, tr_lab, va_x, va_lab)
            print(f"step {step:4d}  triplet {np.mean(running[-50:]):.4f}  active {active:.2f}  5-nn accuracy {acc:.3f}")


if __name__ == "__main__":
    main()
