"""Which of the two marker tokens comes first? A small transformer encoder on padded sequences."""
import math
import random

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader

torch.set_num_threads(1)
random.seed(0)
torch.manual_seed(0)

PAD, A, B, VOCAB, MAXLEN = 0, 1, 2, 24, 20


def sentence():
    n = random.randint(5, 15)
    toks = [random.randint(3, VOCAB - 1) for _ in range(n)]
    i, j = random.sample(range(n), 2)
    toks[i], toks[j] = A, B
    return torch.tensor(toks), int(i < j)


def collate(items):
    toks = pad_sequence([t for t, _ in items], batch_first=True, padding_value=PAD)
    toks = F.pad(toks, (0, MAXLEN - toks.size(1)), value=PAD)
    return toks, torch.tensor([y for _, y in items])


class SelfAttention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, 3 * dim)
        self.proj = nn.Linear(dim, dim)

    def forward(self, x, key_padding_mask):
        b, t, c = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4)
        mask = ~key_padding_mask[:, None, None, :].expand(b, 1, t, t)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return self.proj(y.transpose(1, 2).reshape(b, t, c))


class Block(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.n1, self.n2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.attn = SelfAttention(dim, heads)
        self.mlp = nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim))

    def forward(self, x, m):
        x = x + self.attn(self.n1(x), m)
        return x + self.mlp(self.n2(x))


class Classifier(nn.Module):
    def __init__(self, dim=32, heads=4, depth=2):
        super().__init__()
        self.tok = nn.Embedding(VOCAB, dim, padding_idx=PAD)
        self.pos = nn.Parameter(0.3 * torch.randn(MAXLEN, dim))
        self.blocks = nn.ModuleList([Block(dim, heads) for _ in range(depth)])
        self.norm = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, 2)

    def forward(self, toks):
        pad = toks.eq(PAD)
        x = self.tok(toks) * math.sqrt(2.0) + self.pos
        for blk in self.blocks:
            x = blk(x, pad)
        first_a = toks.eq(A).float().argmax(1)
        return self.head(self.norm(x)[torch.arange(len(x)), first_a])


train = [sentence() for _ in range(2400)]
valid = [sentence() for _ in range(500)]
train_dl = DataLoader(train, batch_size=48, shuffle=True, collate_fn=collate)
valid_dl = DataLoader(valid, batch_size=250, collate_fn=collate)
model = Classifier()
opt = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=0.01)

for epoch in range(7):
    model.train()
    tot = 0.0
    for x, y in train_dl:
        loss = F.cross_entropy(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        tot += loss.item() * len(y)
    model.eval()
    with torch.no_grad():
        acc = sum((model(x).argmax(1) == y).sum().item() for x, y in valid_dl) / len(valid)
    print(f"epoch {epoch}: train loss {tot / len(train):.4f}, valid acc {acc:.3f}")
