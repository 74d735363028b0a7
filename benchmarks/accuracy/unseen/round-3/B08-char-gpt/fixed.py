# A small GPT written from scratch, trained on short echo strings
import math
import random

import torch
import torch.nn as nn
import torch.nn.functional as F

VOCAB = "0123456789+=;abcd"
stoi = {c: i for i, c in enumerate(VOCAB)}


class Config:
    block = 24
    n_layer = 2
    n_head = 4
    d_model = 48
    batch = 32
    steps = 220
    lr = 4e-3


class SelfAttention(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.h = cfg.n_head
        self.qkv = nn.Linear(cfg.d_model, 3 * cfg.d_model)
        self.proj = nn.Linear(cfg.d_model, cfg.d_model)
        self.register_buffer("mask", torch.tril(torch.ones(cfg.block, cfg.block)).bool())

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = [t.view(B, T, self.h, C // self.h).transpose(1, 2) for t in self.qkv(x).split(C, dim=-1)]
        att = q @ k.transpose(-2, -1) / math.sqrt(C // self.h)
        att = att.masked_fill(~self.mask[:T, :T], float("-inf")).softmax(dim=-1)
        y = att @ v
        return self.proj(y.transpose(1, 2).reshape(B, T, C))


class Block(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(cfg.d_model), nn.LayerNorm(cfg.d_model)
        self.att = SelfAttention(cfg)
        self.mlp = nn.Sequential(nn.Linear(cfg.d_model, 4 * cfg.d_model), nn.GELU(),
                                 nn.Linear(4 * cfg.d_model, cfg.d_model))

    def forward(self, x):
        x = x + self.att(self.ln1(x))
        return x + self.mlp(self.ln2(x))


class GPT(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.cfg = cfg
        self.tok = nn.Embedding(len(VOCAB), cfg.d_model)
        self.pos = nn.Embedding(cfg.block, cfg.d_model)
        self.blocks = nn.Sequential(*[Block(cfg) for _ in range(cfg.n_layer)])
        self.ln = nn.LayerNorm(cfg.d_model)
        self.head = nn.Linear(cfg.d_model, len(VOCAB), bias=False)

    def forward(self, idx, targets=None):
        x = self.tok(idx) + self.pos(torch.arange(idx.shape[1]))
        logits = self.head(self.ln(self.blocks(x)))
        loss = None
        if targets is not None:
            loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten())
        return logits, loss

    @torch.no_grad()
    def complete(self, idx, n):
        for _ in range(n):
            logits, _ = self(idx[:, -self.cfg.block:])
            idx = torch.cat([idx, logits[:, -1].argmax(-1, keepdim=True)], 1)
        return idx


def phrase(rng):
    """a random word, then '=' and the word again: '4ab0c=4ab0c;'"""
    w = "".join(rng.choice("abcd0123456789") for _ in range(5))
    return w + "=" + w + ";"


def get_batch(rng, cfg):
    rows = ["".join(phrase(rng) for _ in range(3)) for _ in range(cfg.batch)]
    data = torch.tensor([[stoi[c] for c in r] for r in rows])[:, :cfg.block + 1]
    return data[:, :-1], data[:, 1:]


def copy_accuracy(model, rng, n=100):
    model.eval()
    words = [phrase(rng) for _ in range(n)]
    first = [phrase(rng) for _ in range(n)]
    prompt = torch.tensor([[stoi[c] for c in f + w[:6]] for f, w in zip(first, words)])
    gen = model.complete(prompt, 5)[:, -5:]
    gold = torch.tensor([[stoi[c] for c in w[6:11]] for w in words])
    model.train()
    return (gen == gold).float().mean().item()


def main():
    cfg = Config()
    torch.manual_seed(0)
    rng, eval_rng = random.Random(0), random.Random(99)
    model = GPT(cfg)
    opt = torch.optim.AdamW(model.parameters(), lr=cfg.lr, betas=(0.9, 0.95))
    sched = torch.optim.lr_scheduler.OneCycleLR(opt, cfg.lr, total_steps=cfg.steps)
    for step in range(1, cfg.steps + 1):
        x, y = get_batch(rng, cfg)
        _, loss = model(x, y)
        opt.zero_grad(set_to_none=True)
        loss.backward()
        opt.step()
        sched.step()
        if step % 55 == 0:
            print(f"step {step} loss {loss.item():.3f} generated token accuracy {copy_accuracy(model, eval_rng):.3f}")


main()
