"""Tiny encoder classifier with a hand-made attention and padded sentences."""

import math

import torch
import torch.nn as nn

torch.manual_seed(0)
PAD, V, T = 0, 30, 14


def batch(n):
    lengths = torch.randint(3, T + 1, (n,))
    x = torch.randint(2, V, (n, T))
    y = torch.randint(0, 2, (n,))
    pos = (torch.rand(n) * lengths).long()
    x[torch.arange(n), pos] = torch.where(y == 1, 1, x[torch.arange(n), pos])
    x[torch.arange(T)[None] >= lengths[:, None]] = PAD
    return x, y


class Attention(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.h, self.q, self.k, self.v, self.o = h, nn.Linear(d, d), nn.Linear(d, d), nn.Linear(d, d), nn.Linear(d, d)

    def forward(self, x, mask):
        B, L, D = x.shape
        q, k, v = (f(x).view(B, L, self.h, -1).transpose(1, 2) for f in (self.q, self.k, self.v))
        score = q @ k.transpose(-2, -1) / math.sqrt(D // self.h)
        score = score.masked_fill(mask == 0, -10000.0)
        att = torch.softmax(score, dim=-1)  # <- PM415
        return self.o((att @ v).transpose(1, 2).reshape(B, L, D))


class Encoder(nn.Module):
    def __init__(self, d=32):
        super().__init__()
        self.emb, self.pos = nn.Embedding(V, d), nn.Embedding(T, d)
        self.att, self.n1 = Attention(d, 4), nn.LayerNorm(d)
        self.ff, self.n2 = nn.Sequential(nn.Linear(d, 64), nn.ReLU(), nn.Linear(64, d)), nn.LayerNorm(d)
        self.head = nn.Linear(d, 2)

    def pad_mask(self, x):
        return (x != PAD).unsqueeze(1).unsqueeze(3)

    def forward(self, x):
        m = self.pad_mask(x)
        h = self.emb(x) + self.pos(torch.arange(x.shape[1]))
        h = self.n1(h + self.att(h, m))
        h = self.n2(h + self.ff(h))
        keep = (x != PAD).float()[..., None]
        return self.head((h * keep).sum(1) / keep.sum(1))


model, crit = Encoder(), nn.CrossEntropyLoss()
opt = torch.optim.Adam(model.parameters(), lr=2e-3)
for step in range(150):
    model.train()
    x, y = batch(32)
    loss = crit(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 50 == 49:
        model.eval()
        with torch.no_grad():
            xv, yv = batch(256)
            print(step, loss.item(), (model(xv).argmax(1) == yv).float().mean().item())
