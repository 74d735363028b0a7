"""Encoder for event sequences, layers produced by a helper."""
import math

import torch
import torch.nn as nn


def clones(module, n):
    return nn.ModuleList([module for _ in range(n)])  # <- PM406


class EncoderLayer(nn.Module):
    def __init__(self, size, heads, hidden):
        super().__init__()
        self.attention = nn.MultiheadAttention(size, heads, batch_first=True)
        self.feed = nn.Sequential(nn.Linear(size, hidden), nn.ReLU(), nn.Linear(hidden, size))
        self.norm1, self.norm2 = nn.LayerNorm(size), nn.LayerNorm(size)

    def forward(self, x):
        a = self.norm1(x)
        x = x + self.attention(a, a, a, need_weights=False)[0]
        return x + self.feed(self.norm2(x))


class Encoder(nn.Module):
    def __init__(self, vocab, size=32, n=4):
        super().__init__()
        self.embed = nn.Embedding(vocab, size)
        self.layers = clones(EncoderLayer(size, 4, 64), n)
        self.norm = nn.LayerNorm(size)
        self.out = nn.Linear(size, 2)
        place = torch.arange(12).unsqueeze(1) / torch.pow(10000, torch.arange(0, size, 2) / size)
        self.register_buffer("place", torch.stack([place.sin(), place.cos()], -1).flatten(1))
        self.scale = math.sqrt(size)

    def forward(self, ids):
        x = self.embed(ids) * self.scale + self.place
        for layer in self.layers:
            x = layer(x)
        return self.out(self.norm(x).mean(1))


def events(n):
    ids = torch.randint(2, 16, (n, 12))
    y = torch.randint(0, 2, (n,))
    first = torch.randint(0, 12, (n,))
    rows = torch.arange(n)
    ids[rows, first] = torch.where(y == 1, 0, 1)
    return ids, y


if __name__ == "__main__":
    torch.manual_seed(0)
    model = Encoder(16)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for step in range(120):
        ids, y = events(64)
        loss = nn.functional.cross_entropy(model(ids), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 30 == 0:
            print(step, loss.item())
