import math
from dataclasses import dataclass

import torch
from torch import nn

"""Tiny transformer tagger: the tag of a term depends on the section token at the front."""


@dataclass
class Args:
    vocab: int = 40
    seq_len: int = 20
    d_model: int = 48
    heads: int = 4
    layers: int = 2
    batch: int = 32
    steps: int = 350
    warmup: int = 60
    lr: float = 2e-3
    seed: int = 7


def get_batch(a, gen):
    x = torch.randint(4, a.vocab, (a.batch, a.seq_len), generator=gen)
    # the first token names the section; a term means something else in every section
    section = torch.randint(1, 4, (a.batch,), generator=gen)
    x[:, 0] = section
    y = (x + section[:, None]) % 3
    return x, y


class Tagger(nn.Module):
    def __init__(self, a):
        super().__init__()
        self.tok = nn.Embedding(a.vocab, a.d_model)
        self.pos = nn.Parameter(torch.randn(a.seq_len, a.d_model) * 0.02)
        layer = nn.TransformerEncoderLayer(a.d_model, a.heads, 4 * a.d_model, dropout=0.0, batch_first=True, norm_first=True)
        self.enc = nn.TransformerEncoder(layer, a.layers, enable_nested_tensor=False)
        self.norm = nn.LayerNorm(a.d_model)
        self.cls = nn.Linear(a.d_model, 3)

    def forward(self, x):
        return self.cls(self.norm(self.enc(self.tok(x) + self.pos)))


def warmup_cosine(a):
    def lr_at(step):
        if step < a.warmup:
            return (step + 1) / a.warmup
        t = (step - a.warmup) / max(1, a.steps - a.warmup)
        return 0.5 * (1 + math.cos(math.pi * t))
    return lr_at


@torch.no_grad()
def evaluate(model, a):
    model.eval()
    gen = torch.Generator().manual_seed(999)
    hit = tot = 0
    for _ in range(5):
        x, y = get_batch(a, gen)
        p = model(x).argmax(-1)
        hit += (p[:, 1:] == y[:, 1:]).sum().item()
        tot += y[:, 1:].numel()
    return hit / tot


def main():
    a = Args()
    torch.manual_seed(a.seed)
    gen = torch.Generator().manual_seed(a.seed)
    model = Tagger(a)
    optimizer = torch.optim.AdamW(model.parameters(), lr=a.lr, betas=(0.9, 0.98), weight_decay=0.01)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lr_lambda=warmup_cosine(a))
    for step in range(a.steps):
        model.train()
        x, y = get_batch(a, gen)
        loss = nn.functional.cross_entropy(model(x).flatten(0, 1), y.flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        scheduler.step()
        if (step + 1) % 70 == 0:
            print(f"step {step + 1:4d} loss {loss.item():.4f} tag accuracy {evaluate(model, a):.3f}")


if __name__ == "__main__":
    main()
