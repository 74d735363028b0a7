"""A small GPT that learns to write rising runs of digits and letters."""

import math

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
BLOCK, BATCH, STEPS = 24, 32, 150

alphabet = "abcdefghijklmnopqrstuvwxyz ."
runs = ["abcdefg ", "hijklm ", "nopqrst. ", "uvwxyz "]
picks = torch.randint(0, len(runs), (1500,))
text = "".join(runs[int(i)] for i in picks)
data = torch.tensor([alphabet.index(c) for c in text])
cut = int(0.9 * len(data))
train_data, val_data = data[:cut], data[cut:]


def get_batch(source):
    starts = torch.randint(len(source) - BLOCK - 1, (BATCH,))
    x = torch.stack([source[i : i + BLOCK] for i in starts])
    y = torch.stack([source[i + 1 : i + 1 + BLOCK] for i in starts])
    return x, y


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.proj = nn.Linear(width, width)
        self.register_buffer("mask", torch.tril(torch.ones(BLOCK, BLOCK)).bool())

    def forward(self, x):
        b, t, w = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.heads, w // self.heads).permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-2, -1) / math.sqrt(w // self.heads)
        scores = scores.masked_fill(~self.mask[:t, :t], float("-inf"))
        weights = scores.softmax(dim=-1)
        return self.proj((weights @ v).transpose(1, 2).reshape(b, t, w))


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.norm1, self.attention = nn.LayerNorm(width), Attention(width, heads)
        self.norm2 = nn.LayerNorm(width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class GPT(nn.Module):
    def __init__(self, width=48, heads=4, layers=2):
        super().__init__()
        self.tokens = nn.Embedding(len(alphabet), width)
        self.positions = nn.Embedding(BLOCK, width)
        self.blocks = nn.ModuleList([Block(width, heads) for _ in range(layers)])
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, len(alphabet), bias=False)

    def forward(self, idx, targets=None):
        x = self.tokens(idx) + self.positions(torch.arange(idx.shape[1]))
        for block in self.blocks:
            x = block(x)
        logits = self.head(self.norm(x))
        if targets is None:
            return logits, None
        loss = F.cross_entropy(logits.view(-1, logits.shape[-1]), targets.reshape(-1))
        return logits, loss


@torch.no_grad()
def validate(model):
    model.eval()
    losses = [model(*get_batch(val_data))[1].item() for _ in range(5)]
    model.train()
    return sum(losses) / len(losses)


model = GPT()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.01)
schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda s: min((s + 1) / 20, 1.0))
for step in range(STEPS):
    x, y = get_batch(train_data)
    logits, loss = model(x, y)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    schedule.step()
    if step % 50 == 49:
        print(f"step {step + 1}: train {loss.item():.3f}, validation {validate(model):.3f}")
