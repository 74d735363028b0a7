"""Learning to rank: queries with candidate lists, RankNet pair loss inside each query, one query group per batch."""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset


class Queries(Dataset):
    def __init__(self, n, seed):
        rng = np.random.default_rng(seed)
        self.items = []
        for _ in range(n):
            k = rng.integers(5, 15)
            q = rng.normal(size=4)
            docs = rng.normal(size=(k, 8))
            rel = docs[:, :4] @ q + 0.8 * docs[:, 4] - 0.5 * docs[:, 5] ** 2 + rng.normal(0, 0.4, k)
            grade = np.digitize(rel, [-1.5, 0.0, 1.5])
            feats = np.concatenate([docs, np.repeat(q[None], k, 0), docs[:, :4] * q], axis=1)
            self.items.append((torch.tensor(feats, dtype=torch.float32), torch.tensor(grade, dtype=torch.float32)))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


def collate(items):
    sizes = [len(g) for _, g in items]
    return torch.cat([x for x, _ in items]), torch.cat([g for _, g in items]), sizes


def pair_loss(score, grade, sizes):
    total, pairs = score.new_zeros(()), 0
    for s, g in zip(score.split(sizes), grade.split(sizes)):
        better = g[:, None] > g[None, :]
        if better.any():
            total = total + F.softplus(-(s[:, None] - s[None, :])[better]).sum()
            pairs += int(better.sum())
    return total / max(pairs, 1)


def ndcg(score, grade):
    gain = 2 ** grade - 1
    disc = 1 / torch.log2(torch.arange(len(grade)) + 2.0)
    ideal = (gain.sort(descending=True).values * disc).sum()
    return ((gain[score.argsort(descending=True)] * disc).sum() / ideal).item() if ideal > 0 else None


@torch.no_grad()
def evaluate(net, data):
    net.eval()
    vals = [ndcg(net(x).squeeze(1), g) for x, g in data.items]
    return float(np.mean([v for v in vals if v is not None]))


def main():
    torch.manual_seed(0)
    train_set, valid_set = Queries(600, 0), Queries(150, 1)
    loader = DataLoader(train_set, batch_size=16, shuffle=True, collate_fn=collate)
    net = nn.Sequential(nn.Linear(16, 48), nn.ReLU(), nn.Linear(48, 48), nn.ReLU(), nn.Linear(48, 1, bias=False))
    opt = torch.optim.AdamW(net.parameters(), lr=2e-3)
    print(f"before training: ndcg {evaluate(net, valid_set):.4f}")
    for epoch in range(8):
        net.train()
        tot = 0.0
        for x, g, sizes in loader:
            opt.zero_grad()
            loss = pair_loss(net(x).squeeze(1), g, sizes)
            loss.backward()
            opt.step()
            tot += loss.item()
        print(f"epoch {epoch} pair loss {tot / len(loader):.4f} valid ndcg {evaluate(net, valid_set):.4f}")


if __name__ == "__main__":
    main()
