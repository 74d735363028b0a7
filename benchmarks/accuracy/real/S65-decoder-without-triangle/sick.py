"""nn.Transformer that rewrites dates: '3 may 21' style symbols into numbers."""
import math

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

VOCAB, BOS, EOS = 24, 1, 2


def pairs(n, seed):
    g = torch.Generator().manual_seed(seed)
    src = torch.randint(3, VOCAB, (n, 7), generator=g)
    body = 3 + (src - 3 + 2 * torch.arange(7)) % (VOCAB - 3)
    trg = torch.cat([torch.full((n, 1), BOS), body, torch.full((n, 1), EOS)], 1)
    return TensorDataset(src, trg)


class PositionalEncoding(nn.Module):
    def __init__(self, dim, length=32):
        super().__init__()
        position = torch.arange(length).unsqueeze(1)
        scale = torch.exp(torch.arange(0, dim, 2) * (-math.log(10000.0) / dim))
        table = torch.zeros(1, length, dim)
        table[0, :, 0::2], table[0, :, 1::2] = torch.sin(position * scale), torch.cos(position * scale)
        self.register_buffer("table", table)

    def forward(self, x):
        return x + self.table[:, : x.size(1)]


class DateRewriter(nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        self.src_embed, self.trg_embed = nn.Embedding(VOCAB, dim), nn.Embedding(VOCAB, dim)
        self.positions = PositionalEncoding(dim)
        self.transformer = nn.Transformer(dim, 2, 1, 1, 64, dropout=0.0, batch_first=True)
        self.generator = nn.Linear(dim, VOCAB)

    def forward(self, src, trg):
        src = self.positions(self.src_embed(src))
        trg = self.positions(self.trg_embed(trg))
        out = self.transformer(src, trg)  # <- PM417
        return self.generator(out)


def greedy(model, src):
    tokens = torch.full((len(src), 1), BOS)
    for _ in range(8):
        tokens = torch.cat([tokens, model(src, tokens)[:, -1:].argmax(-1)], 1)
    return tokens


torch.manual_seed(0)
train, test = pairs(1500, 0), pairs(100, 1)
loader = DataLoader(train, batch_size=50, shuffle=True)
model = DateRewriter()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
for epoch in range(8):
    model.train()
    for src, trg in loader:
        logits = model(src, trg[:, :-1])
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), trg[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        src, trg = test.tensors
        val = nn.functional.cross_entropy(model(src, trg[:, :-1]).flatten(0, 1), trg[:, 1:].flatten())
        right = (greedy(model, src) == trg).float().mean()
    print(f"epoch {epoch} train {loss.item():.4f} val {val.item():.4f} greedy accuracy {right.item():.3f}")
