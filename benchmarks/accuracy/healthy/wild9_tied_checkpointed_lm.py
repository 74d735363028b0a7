"""Character model with tied input/output embeddings, gradient checkpointing, frozen positions and warm restarts."""
import math
import random

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint

WORDS = "the small grey cat sat near a warm old stove while rain fell on red roofs and two dogs ran home".split()


def make_text(n, seed):
    rng = random.Random(seed)
    return " ".join(rng.choice(WORDS) for _ in range(n))


class Block(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.n1, self.n2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.attn = nn.MultiheadAttention(d, heads, batch_first=True)
        self.ff = nn.Sequential(nn.Linear(d, 4 * d), nn.GELU(), nn.Linear(4 * d, d))

    def forward(self, x, mask):
        h = self.n1(x)
        x = x + self.attn(h, h, h, attn_mask=mask, need_weights=False)[0]
        return x + self.ff(self.n2(x))


class CharLM(nn.Module):
    def __init__(self, vocab, d=48, heads=4, layers=2, context=32):
        super().__init__()
        self.emb = nn.Embedding(vocab, d)
        nn.init.normal_(self.emb.weight, std=0.05)
        pos = torch.arange(context)[:, None] * torch.exp(torch.arange(0, d, 2) * (-math.log(1000.0) / d))
        self.register_buffer("pos", 0.1 * torch.stack([pos.sin(), pos.cos()], -1).flatten(1))
        self.blocks = nn.ModuleList(Block(d, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(d)
        self.out = nn.Linear(d, vocab, bias=False)
        self.out.weight = self.emb.weight

    def forward(self, ids):
        n = ids.shape[1]
        mask = torch.triu(torch.full((n, n), float("-inf")), diagonal=1)
        h = self.emb(ids) + self.pos[:n]
        for b in self.blocks:
            h = checkpoint(b, h, mask, use_reentrant=False) if self.training else b(h, mask)
        return self.out(self.norm(h))


def main():
    torch.manual_seed(0)
    chars = sorted(set(" ".join(WORDS)))
    code = {c: i for i, c in enumerate(chars)}
    train, valid = (torch.tensor([code[c] for c in make_text(n, s)]) for n, s in ((4000, 0), (500, 1)))
    model = CharLM(len(chars))
    opt = torch.optim.AdamW(model.parameters(), lr=4e-3, weight_decay=0.01)
    sched = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(opt, T_0=60, T_mult=2, eta_min=1e-4)

    def windows(data, starts, size=32):
        w = torch.stack([data[s:s + size + 1] for s in starts.tolist()])
        return w[:, :-1], w[:, 1:]

    running = []
    for step in range(1, 181):
        model.train()
        x, y = windows(train, torch.randint(len(train) - 33, (24,)))
        opt.zero_grad()
        loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten())
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        sched.step()
        running.append(loss.item())
        if step % 30 == 0:
            model.eval()
            with torch.no_grad():
                xv, yv = windows(valid, torch.arange(0, len(valid) - 33, 33))
                v = F.cross_entropy(model(xv).flatten(0, 1), yv.flatten()).item()
            print(f"step {step} train {sum(running) / len(running):.4f} valid {v:.4f} lr {sched.get_last_lr()[0]:.5f}")
            running = []


if __name__ == "__main__":
    main()
