"""Which of two events came first in a session log? Small transformer over event ids."""
import argparse
import math

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

VOCAB, LENGTH = 24, 14
LOGIN, ALARM = 1, 2


class PositionalEncoding(nn.Module):
    """Sinusoidal positions, after 'Attention is all you need'."""

    def __init__(self, d_model, dropout=0.0, max_len=512):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        position = torch.arange(max_len).unsqueeze(1)
        rate = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
        pe = torch.zeros(max_len, 1, d_model)
        pe[:, 0, 0::2] = torch.sin(position * rate)
        pe[:, 0, 1::2] = torch.cos(position * rate)
        self.register_buffer("pe", pe)

    def forward(self, x):
        x = x + self.pe[:x.size(0)]
        return self.dropout(x)


class LogClassifier(nn.Module):
    def __init__(self, vocab=VOCAB, d_model=32, heads=4, layers=2):
        super().__init__()
        self.embed = nn.Embedding(vocab, d_model)
        self.position = PositionalEncoding(d_model)
        layer = nn.TransformerEncoderLayer(d_model, heads, 64, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, layers)
        self.head = nn.Linear(d_model, 2)

    def forward(self, events):
        h = self.position(self.embed(events))
        h = self.encoder(h)
        return self.head(h.mean(dim=1))


def make_sessions(n, generator):
    events = torch.randint(3, VOCAB, (n, LENGTH), generator=generator)
    places = torch.rand(n, LENGTH, generator=generator).argsort(dim=1)[:, :2]
    rows = torch.arange(n)
    events[rows, places[:, 0]] = LOGIN
    events[rows, places[:, 1]] = ALARM
    label = (places[:, 0] < places[:, 1]).long()
    return events, label


@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    right = total = 0
    for events, label in loader:
        right += (model(events).argmax(1) == label).sum().item()
        total += len(label)
    model.train()
    return right / total


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--lr", type=float, default=2e-3)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()

    torch.manual_seed(args.seed)
    torch.set_num_threads(1)
    g = torch.Generator().manual_seed(args.seed)
    train = TensorDataset(*make_sessions(4000, g))
    val = TensorDataset(*make_sessions(800, g))
    train_loader = DataLoader(train, batch_size=args.batch_size, shuffle=True)
    val_loader = DataLoader(val, batch_size=args.batch_size)

    model = LogClassifier()
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(args.epochs):
        total = 0.0
        for events, label in train_loader:
            optimizer.zero_grad()
            loss = criterion(model(events), label)
            loss.backward()
            optimizer.step()
            total += loss.item() * len(label)
        print(f"epoch {epoch + 1}: loss {total / len(train):.4f}  val acc {evaluate(model, val_loader):.3f}")


if __name__ == "__main__":
    main()
