"""Implicit-feedback recommender: NeuMF-like scorer, four sampled negatives per click, hit rate @10."""
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset

torch.set_num_threads(1)


@dataclass
class Settings:
    users: int = 250
    items: int = 400
    taste: int = 8
    clicks: int = 14
    negatives: int = 1
    batch: int = 256
    epochs: int = 25
    lr: float = 5e-3
    seed: int = 12


def simulate(cfg):
    r = np.random.default_rng(cfg.seed)
    u = r.normal(size=(cfg.users, cfg.taste))
    v = r.normal(size=(cfg.items, cfg.taste))
    logits = 1.6 * u @ v.T
    seen, held = [], []
    for i in range(cfg.users):
        p = np.exp(logits[i] - logits[i].max())
        picks = r.choice(cfg.items, cfg.clicks + 1, replace=False, p=p / p.sum())
        seen.append(picks[:-1])
        held.append(picks[-1])
    return seen, np.array(held)


class ClickStream(IterableDataset):
    def __init__(self, seen, cfg):
        self.seen = [set(s.tolist()) for s in seen]
        self.pairs = np.array([(u, i) for u, s in enumerate(seen) for i in s])
        self.cfg = cfg
        self.rng = np.random.default_rng(cfg.seed)

    def __iter__(self):
        rng = self.rng
        for k in rng.permutation(len(self.pairs)):
            u, pos = self.pairs[k]
            yield int(u), int(pos), 1.0
            for _ in range(self.cfg.negatives):
                j = int(rng.integers(self.cfg.items))
                while j in self.seen[u]:
                    j = int(rng.integers(self.cfg.items))
                yield int(u), j, 0.0


class Scorer(nn.Module):
    def __init__(self, cfg, dim=16):
        super().__init__()
        self.user = nn.Embedding(cfg.users, dim)
        self.item = nn.Embedding(cfg.items, dim)
        self.bias = nn.Embedding(cfg.items, 1)
        for e in (self.user, self.item):
            nn.init.normal_(e.weight, std=0.1)
        nn.init.zeros_(self.bias.weight)

    def forward(self, u, i):
        return (self.user(u) * self.item(i)).sum(-1) + self.bias(i).squeeze(-1)


@torch.no_grad()
def hit_rate(model, seen, held, cfg, k=10):
    hits = 0
    every = torch.arange(cfg.items)
    for u in range(cfg.users):
        s = model(torch.full_like(every, u), every)
        s[torch.as_tensor(seen[u])] = -1e9
        hits += int(held[u]) in s.topk(k).indices.tolist()
    return hits / cfg.users


def main(cfg=Settings()):
    torch.manual_seed(cfg.seed)
    seen, held = simulate(cfg)
    loader = DataLoader(ClickStream(seen, cfg), batch_size=cfg.batch)
    model = Scorer(cfg)
    opt = torch.optim.Adam(model.parameters(), lr=cfg.lr)
    bce = nn.BCEWithLogitsLoss()
    for epoch in range(1, cfg.epochs + 1):
        total = n = 0
        for u, i, y in loader:
            loss = bce(model(u, i), y.float())
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
            n += 1
        if epoch % 5 == 0 or epoch == 1:
            print(f"epoch {epoch} loss {total / n:.4f} HR@10 {hit_rate(model, seen, held, cfg):.3f}")


if __name__ == "__main__":
    main()
