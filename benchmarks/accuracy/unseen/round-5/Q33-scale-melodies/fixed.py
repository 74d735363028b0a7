import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F


class CausalSelfAttention(nn.Module):
    def __init__(self, width, heads, block_size):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.proj = nn.Linear(width, width)
        mask = torch.triu(torch.ones(block_size, block_size, dtype=torch.bool), diagonal=1)
        self.register_buffer("mask", mask)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (t.view(B, T, self.heads, C // self.heads).transpose(1, 2) for t in self.qkv(x).split(C, dim=2))
        att = (q @ k.transpose(-2, -1)) * (C // self.heads) ** -0.5
        att = att.masked_fill(self.mask[:T, :T], float("-inf")).softmax(dim=-1)
        return self.proj((att @ v).transpose(1, 2).reshape(B, T, C))


class Block(nn.Module):
    def __init__(self, width, heads, block_size):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attn = CausalSelfAttention(width, heads, block_size)
        self.mlp = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))

    def forward(self, x):
        x = x + self.attn(self.ln1(x))
        return x + self.mlp(self.ln2(x))


class MelodyModel(nn.Module):
    def __init__(self, notes, block_size, width=40, heads=4, layers=2):
        super().__init__()
        self.note = nn.Embedding(notes, width)
        self.time = nn.Parameter(torch.zeros(block_size, width))
        nn.init.normal_(self.time, std=0.02)
        self.blocks = nn.Sequential(*[Block(width, heads, block_size) for _ in range(layers)])
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, notes, bias=False)

    def forward(self, idx):
        return self.head(self.norm(self.blocks(self.note(idx) + self.time[: idx.shape[1]])))


def melodies(n, length, notes, g):
    """A note moves by a step that stays the same for the whole melody, with a turn now and then."""
    step = torch.randint(1, 5, (n,), generator=g)
    rows = [torch.randint(0, notes, (n,), generator=g)]
    for _ in range(length - 1):
        turn = torch.rand(n, generator=g) < 0.1
        step = torch.where(turn, torch.randint(1, 5, (n,), generator=g), step)
        rows.append((rows[-1] + step) % notes)
    return torch.stack(rows, 1)


@torch.no_grad()
def continuation_accuracy(model, tunes, given=6):
    right = []
    for t in range(given, tunes.shape[1]):
        guess = model(tunes[:, :t])[:, -1].argmax(-1)
        right.append((guess == tunes[:, t]).float())
    return torch.stack(right).mean().item()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--notes", type=int, default=24)
    ap.add_argument("--length", type=int, default=24)
    ap.add_argument("--iters", type=int, default=300)
    args = ap.parse_args()
    torch.manual_seed(27)
    torch.set_num_threads(1)
    g = torch.Generator().manual_seed(28)
    model = MelodyModel(args.notes, args.length)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, betas=(0.9, 0.95))
    for it in range(1, args.iters + 1):
        tune = melodies(48, args.length, args.notes, g)
        logits = model(tune[:, :-1])
        loss = F.cross_entropy(logits.reshape(-1, args.notes), tune[:, 1:].reshape(-1))
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        if it % 60 == 0:
            print(f"iter {it} loss {loss.item():.4f}")
    model.eval()
    print(f"notes continued correctly {continuation_accuracy(model, melodies(200, args.length, args.notes, g)):.3f}")


if __name__ == "__main__":
    main()
