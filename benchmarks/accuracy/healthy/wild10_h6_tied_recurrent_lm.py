"""Language model with one Transformer layer applied several times, tied input/output embeddings, and gradient accumulation weighted by token counts."""
import random

import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader

PAD, BOS, EOS, BASE = 0, 1, 2, 3
VOCAB = BASE + 12
MICRO = 4


def make_sequences(n, seed):
    """Counting modulo 12 with a per-sequence step, of very different lengths."""
    rng = random.Random(seed)
    rows = []
    for _ in range(n):
        value, step = rng.randrange(12), rng.choice([1, 2, 5])
        ids = [BOS]
        for _ in range(rng.randint(4, 18)):
            ids.append(BASE + value)
            value = (value + step) % 12
        rows.append(torch.tensor(ids + [EOS]))
    return rows


def collate(rows):
    ids = pad_sequence(rows, batch_first=True, padding_value=PAD)
    return ids[:, :-1], ids[:, 1:]


class LoopedLM(nn.Module):
    def __init__(self, dim=40, loops=3):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, dim)
        nn.init.normal_(self.embed.weight, std=dim ** -0.5)
        self.pos = nn.Parameter(torch.randn(1, 24, dim) * 0.02)
        self.layer = nn.TransformerEncoderLayer(dim, 4, 2 * dim, dropout=0.0, batch_first=True, norm_first=True)
        self.norm = nn.LayerNorm(dim)
        self.loops = loops
        self.head = nn.Linear(dim, VOCAB, bias=False)
        self.head.weight = self.embed.weight

    def forward(self, ids):
        t = ids.shape[1]
        mask = torch.triu(torch.ones(t, t, dtype=torch.bool), diagonal=1)
        x = self.embed(ids) + self.pos[:, :t]
        for _ in range(self.loops):
            x = self.layer(x, src_mask=mask)
        return self.head(self.norm(x))


def token_loss(model, x, y):
    return nn.functional.cross_entropy(model(x).flatten(0, 1), y.flatten(), ignore_index=PAD, reduction="sum")


@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    hits = n = 0
    for x, y in loader:
        keep = (y != PAD)
        keep[:, :2] = False
        hits += (model(x).argmax(-1) == y)[keep].sum().item()
        n += keep.sum().item()
    return hits / n


def main():
    torch.manual_seed(5)
    loader = DataLoader(make_sequences(800, 1), batch_size=8, shuffle=True, collate_fn=collate)
    val = DataLoader(make_sequences(120, 2), batch_size=40, collate_fn=collate)
    model = LoopedLM()
    opt = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for epoch in range(6):
        model.train()
        group, total, tokens = [], 0.0, 0
        for batch in loader:
            group.append(batch)
            if len(group) < MICRO:
                continue
            count = sum((y != PAD).sum().item() for _, y in group)
            opt.zero_grad()
            for x, y in group:
                loss = token_loss(model, x, y) / count
                loss.backward()
                total += loss.item() * count
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            opt.step()
            tokens += count
            group = []
        print(f"epoch {epoch} loss/token {total / tokens:.4f} val accuracy {evaluate(model, val):.3f}")


if __name__ == "__main__":
    main()
