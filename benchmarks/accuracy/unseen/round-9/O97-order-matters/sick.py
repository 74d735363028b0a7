"""Transformer that decides which of two markers came first in a sequence."""
import argparse
import math

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def sequences(n, length=16, fillers=8, seed=0):
    """Tokens 0 and 1 are markers, the rest is filler; the label tells whether 0 precedes 1."""
    gen = torch.Generator().manual_seed(seed)
    tokens = torch.randint(2, 2 + fillers, (n, length), generator=gen)
    places = torch.rand(n, length, generator=gen).argsort(dim=1)[:, :2]
    tokens.scatter_(1, places[:, :1], 0)
    tokens.scatter_(1, places[:, 1:], 1)
    return TensorDataset(tokens, (places[:, 0] < places[:, 1]).long())


class PositionalEncoding(nn.Module):
    def __init__(self, d_model, dropout=0.0, max_len=512):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        position = torch.arange(max_len).unsqueeze(1)
        rate = torch.exp(torch.arange(0, d_model, 2) * (-math.log(200.0) / d_model))
        pe = torch.zeros(max_len, 1, d_model)
        pe[:, 0, 0::2] = torch.sin(position * rate)
        pe[:, 0, 1::2] = torch.cos(position * rate)
        self.register_buffer("pe", pe)

    def forward(self, x):
        return self.dropout(x + self.pe[:x.size(0)])


class OrderModel(nn.Module):
    def __init__(self, vocab, d_model=32, heads=4, layers=2):
        super().__init__()
        self.embed = nn.Embedding(vocab, d_model)
        self.positions = PositionalEncoding(d_model)
        layer = nn.TransformerEncoderLayer(d_model, heads, 4 * d_model, dropout=0.0, batch_first=True,
                                           norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.out = nn.Sequential(nn.LayerNorm(d_model), nn.Linear(d_model, 2))

    def forward(self, tokens):
        x = self.positions(self.embed(tokens))
        return self.out(self.encoder(x).mean(dim=1))


@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    loss = hits = n = 0
    for tokens, label in loader:
        logits = model(tokens)
        loss += F.cross_entropy(logits, label, reduction="sum").item()
        hits += (logits.argmax(1) == label).sum().item()
        n += len(label)
    return loss / n, hits / n


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=6)
    ap.add_argument("--batch-size", type=int, default=64)
    ap.add_argument("--lr", type=float, default=2e-3)
    args = ap.parse_args()
    torch.manual_seed(17)
    train = DataLoader(sequences(4096, seed=1), args.batch_size, shuffle=True)
    valid = DataLoader(sequences(1024, seed=2), 256)
    model = OrderModel(vocab=10)
    opt = torch.optim.AdamW(model.parameters(), lr=args.lr, weight_decay=0.01)
    sched = torch.optim.lr_scheduler.OneCycleLR(opt, args.lr, total_steps=args.epochs * len(train))
    for epoch in range(args.epochs):
        model.train()
        total = 0.0
        for tokens, label in train:
            loss = F.cross_entropy(model(tokens), label)
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            opt.step()
            sched.step()
            total += loss.item()
        val_loss, acc = evaluate(model, valid)
        print(f"epoch {epoch}  train {total / len(train):.4f}  valid {val_loss:.4f}  accuracy {acc:.4f}")


if __name__ == "__main__":
    main()
