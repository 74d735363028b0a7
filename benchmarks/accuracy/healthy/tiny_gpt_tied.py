"""A small GPT: causal -inf mask, tied embedding, weight decay groups, warm-up from zero and cosine decay, bf16 autocast."""

import math
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class GPTConfig:
    vocab: int = 16
    block: int = 24
    layers: int = 2
    heads: int = 2
    width: int = 32
    dropout: float = 0.0


class Attention(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.qkv, self.proj, self.heads = nn.Linear(c.width, 3 * c.width), nn.Linear(c.width, c.width), c.heads
        self.register_buffer("mask", torch.tril(torch.ones(c.block, c.block)).view(1, 1, c.block, c.block))
        self.drop = nn.Dropout(c.dropout)

    def forward(self, x):
        b, t, w = x.shape
        q, k, v = (y.view(b, t, self.heads, -1).transpose(1, 2) for y in self.qkv(x).split(w, dim=2))
        att = (q @ k.transpose(-2, -1)) / math.sqrt(k.size(-1))
        att = att.masked_fill(self.mask[:, :, :t, :t] == 0, float("-inf"))
        att = self.drop(F.softmax(att, dim=-1))
        return self.proj((att @ v).transpose(1, 2).reshape(b, t, w))


class Block(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.ln1, self.att, self.ln2 = nn.LayerNorm(c.width), Attention(c), nn.LayerNorm(c.width)
        self.mlp = nn.Sequential(nn.Linear(c.width, 4 * c.width), nn.GELU(), nn.Linear(4 * c.width, c.width))

    def forward(self, x):
        x = x + self.att(self.ln1(x))
        return x + self.mlp(self.ln2(x))


class GPT(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(c.vocab, c.width), nn.Embedding(c.block, c.width)
        self.blocks = nn.ModuleList(Block(c) for _ in range(c.layers))
        self.ln_f = nn.LayerNorm(c.width)
        self.lm_head = nn.Linear(c.width, c.vocab, bias=False)
        self.wte.weight = self.lm_head.weight
        self.apply(lambda m: nn.init.normal_(m.weight, std=0.05) if isinstance(m, (nn.Linear, nn.Embedding)) else None)

    def forward(self, idx, targets=None):
        x = self.wte(idx) + self.wpe(torch.arange(idx.size(1)))
        for block in self.blocks:
            x = block(x)
        logits = self.lm_head(self.ln_f(x))
        loss = (
            F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1), ignore_index=-1)
            if targets is not None
            else None
        )
        return logits, loss


def get_batch(n, c):
    """Arithmetic progressions modulo the vocabulary."""
    start, stride = torch.randint(c.vocab, (n, 1)), torch.randint(1, 5, (n, 1))
    rows = (start + stride * torch.arange(c.block + 1)) % c.vocab
    targets = rows[:, 1:].clone()
    targets[:, 0] = -1  # the stride is not known yet
    return rows[:, :-1], targets


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    config = GPTConfig()
    model = GPT(config)
    decay = [p for p in model.parameters() if p.dim() >= 2]
    plain = [p for p in model.parameters() if p.dim() < 2]
    groups = [{"params": decay, "weight_decay": 0.1}, {"params": plain, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=6e-3, betas=(0.9, 0.95))
    total, warm = 160, 20

    def rate(step):
        if step < warm:
            return step / warm
        return 0.1 + 0.45 * (1 + math.cos(math.pi * (step - warm) / (total - warm)))

    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, rate)
    for step in range(total):
        x, y = get_batch(24, config)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            _, loss = model(x, y)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        scheduler.step()
        if step % 20 == 0:
            print(step, loss.item(), optimizer.param_groups[0]["lr"])
    model.eval()
    with torch.no_grad():
        x, y = get_batch(200, config)
        logits, loss = model(x, y)
    print("val", loss.item())
    assert loss < 0.5


if __name__ == "__main__":
    main()
