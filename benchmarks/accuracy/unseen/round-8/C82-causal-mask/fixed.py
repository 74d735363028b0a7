"""A tiny character model with hand-written attention, trained on arithmetic lines."""
import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F

CHARS = "0123456789+=.\n"
STOI = {c: i for i, c in enumerate(CHARS)}


def make_text(n, gen):
    rows = []
    for _ in range(n):
        a, b = torch.randint(0, 10, (2,), generator=gen).tolist()
        rows.append(f"{a}+{b}={a + b:02d}.\n")
    return torch.tensor([STOI[c] for c in "".join(rows)])


class Attention(nn.Module):
    def __init__(self, dim, heads, block):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, 3 * dim)
        self.proj = nn.Linear(dim, dim)
        mask = torch.tril(torch.ones(block, block)).bool()
        self.register_buffer("mask", mask)

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        att = q @ k.transpose(-2, -1) / (d // self.heads) ** 0.5
        att = att.masked_fill(~self.mask[:t, :t], float("-inf")).softmax(-1)
        return self.proj((att @ v).transpose(1, 2).reshape(b, t, d))


class Block(nn.Module):
    def __init__(self, dim, heads, block):
        super().__init__()
        self.n1, self.n2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.att = Attention(dim, heads, block)
        self.mlp = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim))

    def forward(self, x):
        x = x + self.att(self.n1(x))
        return x + self.mlp(self.n2(x))


class CharModel(nn.Module):
    def __init__(self, dim=48, heads=4, layers=2, block=32):
        super().__init__()
        self.block = block
        self.tok, self.pos = nn.Embedding(len(CHARS), dim), nn.Embedding(block, dim)
        self.blocks = nn.Sequential(*[Block(dim, heads, block) for _ in range(layers)])
        self.norm, self.head = nn.LayerNorm(dim), nn.Linear(dim, len(CHARS))

    def forward(self, ids):
        x = self.tok(ids) + self.pos(torch.arange(ids.size(1)))
        return self.head(self.norm(self.blocks(x)))


def batch(data, size, block):
    ix = torch.randint(len(data) - block - 1, (size,))
    x = torch.stack([data[i:i + block] for i in ix])
    y = torch.stack([data[i + 1:i + block + 1] for i in ix])
    return x, y


@torch.no_grad()
def answers_right(model):
    """Complete 'a+b=' greedily after two solved examples."""
    model.eval()
    right = 0
    for a in range(10):
        for b in range(0, 10, 3):
            ids = [STOI[c] for c in f"1+1=02.\n2+3=05.\n{a}+{b}="]
            for _ in range(2):
                ids.append(model(torch.tensor([ids]))[0, -1].argmax().item())
            right += "".join(CHARS[i] for i in ids[-2:]) == f"{a + b:02d}"
    model.train()
    return right / 40


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--steps", type=int, default=720)
    ap.add_argument("--lr", type=float, default=4e-3)
    args = ap.parse_args()
    torch.manual_seed(0)
    gen = torch.Generator().manual_seed(0)
    train, val = make_text(4000, gen), make_text(500, gen)
    model = CharModel()
    opt = torch.optim.AdamW(model.parameters(), lr=args.lr, weight_decay=0.01)
    sched = torch.optim.lr_scheduler.OneCycleLR(opt, args.lr, total_steps=args.steps)
    for step in range(1, args.steps + 1):
        x, y = batch(train, 24, model.block)
        loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten())
        opt.zero_grad()
        loss.backward()
        opt.step()
        sched.step()
        if step % 120 == 0:
            with torch.no_grad():
                vx, vy = batch(val, 64, model.block)
                vloss = F.cross_entropy(model(vx).flatten(0, 1), vy.flatten())
            print(f"step {step} train {loss.item():.3f} val {vloss.item():.3f} sums right {answers_right(model):.2f}")
