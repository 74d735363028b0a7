"""Healthy: sparse embeddings under SparseAdam, dense layers under AdamW, gradients accumulated over four micro-batches, tail flushed, summed loss normalised by the real sample count."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Recommender(nn.Module):
    def __init__(self, users, items, dim=16):
        super().__init__()
        self.user = nn.Embedding(users, dim, sparse=True)
        self.item = nn.Embedding(items, dim, sparse=True)
        nn.init.normal_(self.user.weight, std=0.3)
        nn.init.normal_(self.item.weight, std=0.3)
        self.mlp = nn.Sequential(nn.Linear(3 * dim, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, u, i):
        a, b = self.user(u), self.item(i)
        return self.mlp(torch.cat([a, b, a * b], 1)).squeeze(1)


def ratings(users=150, items=100, n=12000, seed=0):
    gen = torch.Generator().manual_seed(seed)
    pu, qi = torch.randn(users, 3, generator=gen), torch.randn(items, 3, generator=gen)
    pairs = torch.randperm(users * items, generator=gen)[:n]
    u, i = pairs // items, pairs % items
    r = (pu[u] * qi[i]).sum(1) / 3 ** 0.5 + 0.1 * torch.randn(n, generator=gen)
    return u, i, r


def groups(seq, size):
    for s in range(0, len(seq), size):
        yield seq[s:s + size]


def main(micro=50, accumulate=4, epochs=14):
    torch.manual_seed(0)
    u, i, r = ratings()
    cut = 9630
    model = Recommender(150, 100)
    sparse_opt = torch.optim.SparseAdam([model.user.weight, model.item.weight], lr=1e-2)
    dense_opt = torch.optim.AdamW(model.mlp.parameters(), lr=3e-3)
    gen = torch.Generator().manual_seed(0)
    for epoch in range(1, epochs + 1):
        model.train()
        total = 0.0
        micro_batches = torch.randperm(cut, generator=gen).split(micro)
        for group in groups(micro_batches, accumulate):
            count = sum(len(b) for b in group)
            for b in group:
                loss = F.mse_loss(model(u[b], i[b]), r[b], reduction="sum") / count
                loss.backward()
                total += loss.item() * count
            nn.utils.clip_grad_norm_(model.mlp.parameters(), 5.0)
            sparse_opt.step()
            dense_opt.step()
            sparse_opt.zero_grad()
            dense_opt.zero_grad()
        if epoch % 2 == 0:
            model.eval()
            with torch.no_grad():
                mse = F.mse_loss(model(u[cut:], i[cut:]), r[cut:]).item()
            print(f"epoch {epoch}  train mse {total / cut:.4f}  test mse {mse:.4f}  (variance {r[cut:].var():.4f})")


if __name__ == "__main__":
    main()
