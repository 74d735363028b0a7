"""Character model of sums."""

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
torch.set_num_threads(1)
VOCAB = {c: i for i, c in enumerate("0123456789+=.")}


def make(n):
    rows = []
    for _ in range(n):
        a, b = torch.randint(0, 50, (2,)).tolist()
        rows.append([VOCAB[c] for c in f"{a:02d}+{b:02d}={a + b:02d}."])
    return torch.tensor(rows)


class Block(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.h = h
        self.qkv = nn.Linear(d, 3 * d)
        self.proj = nn.Linear(d, d)
        self.n1 = nn.LayerNorm(d)
        self.n2 = nn.LayerNorm(d)
        self.mlp = nn.Sequential(nn.Linear(d, 4 * d), nn.GELU(), nn.Linear(4 * d, d))

    def forward(self, x):
        B, T, D = x.shape
        q, k, v = (
            t.view(B, T, self.h, D // self.h).transpose(1, 2) for t in self.qkv(self.n1(x)).chunk(3, -1)
        )
        att = q @ k.transpose(-2, -1) / (D // self.h) ** 0.5
        mask = torch.triu(torch.ones(T, T, dtype=torch.bool))  # <- PM417
        att = att.masked_fill(~mask, float("-inf")).softmax(-1)
        x = x + self.proj((att @ v).transpose(1, 2).reshape(B, T, D))
        return x + self.mlp(self.n2(x))


class GPT(nn.Module):
    def __init__(self, d=48):
        super().__init__()
        self.tok = nn.Embedding(len(VOCAB), d)
        self.pos = nn.Parameter(0.02 * torch.randn(1, 16, d))
        self.blocks = nn.Sequential(Block(d, 4), Block(d, 4))
        self.head = nn.Linear(d, len(VOCAB))

    def forward(self, idx):
        return self.head(self.blocks(self.tok(idx) + self.pos[:, : idx.shape[1]]))


data = make(2000)
model = GPT()
opt = torch.optim.AdamW(model.parameters(), 2e-3)
for step in range(250):
    batch = data[torch.randint(0, 2000, (32,))]
    logits = model(batch[:, :-1])
    loss = F.cross_entropy(logits.reshape(-1, len(VOCAB)), batch[:, 1:].reshape(-1))
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 50 == 0:
        print(step, round(loss.item(), 4))
