"""Adapters inside checkpointed blocks over a frozen embedding."""
import warnings

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

warnings.filterwarnings("ignore")


class AdapterBlock(nn.Module):
    def __init__(self, dim, rank=4):
        super().__init__()
        self.base = nn.Linear(dim, dim)
        self.base.requires_grad_(False)
        self.down, self.up = nn.Linear(dim, rank, bias=False), nn.Linear(rank, dim, bias=False)
        nn.init.zeros_(self.up.weight)
        self.norm = nn.LayerNorm(dim)

    def forward(self, x):
        h = self.norm(x)
        return x + torch.tanh(self.base(h)) + self.up(self.down(h))


class Model(nn.Module):
    def __init__(self, vocab=40, dim=32, depth=3, save_memory=True):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.embed.requires_grad_(False)
        self.blocks = nn.ModuleList(AdapterBlock(dim) for _ in range(depth))
        self.head = nn.Linear(dim, 3)
        self.save_memory = save_memory

    def forward(self, ids):
        x = self.embed(ids)
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=True) if self.save_memory else block(x)  # <- PM403
        return self.head(x.mean(1))


def data(n):
    ids = torch.randint(0, 40, (n, 10))
    return ids, (ids.sum(1) // 7) % 3 * 0 + (ids[:, :5].sum(1) > ids[:, 5:].sum(1)).long() + (ids[:, 0] > 30).long()


def main():
    torch.manual_seed(0)
    model = Model()
    ids, y = data(1024)
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=3e-3)
    for epoch in range(10):
        for rows in torch.randperm(1024).split(32):
            loss = nn.functional.cross_entropy(model(ids[rows]), y[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(epoch, round(loss.item(), 4))


main()
