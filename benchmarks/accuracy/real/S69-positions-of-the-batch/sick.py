"""Transformer encoder on sensor windows: does the first half hold more energy than the second?"""
import math

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


class PositionalEncoding(nn.Module):
    def __init__(self, d_model, max_len=256):
        super().__init__()
        pe = torch.zeros(max_len, 1, d_model)
        position = torch.arange(max_len).unsqueeze(1)
        div = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
        pe[:, 0, 0::2] = torch.sin(position * div)
        pe[:, 0, 1::2] = torch.cos(position * div)
        self.register_buffer("pe", pe)

    def forward(self, x):
        return x + self.pe[: x.size(0)]  # <- PM413


class EnergyTransformer(nn.Module):
    def __init__(self, features=6, d_model=32, classes=2):
        super().__init__()
        self.project = nn.Linear(features, d_model)
        self.positions = PositionalEncoding(d_model)
        layer = nn.TransformerEncoderLayer(d_model, 4, 64, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2)
        self.head = nn.Linear(d_model, classes)

    def forward(self, window):
        h = self.positions(self.project(window))
        return self.head(self.encoder(h).mean(1))


def windows(n, seed):
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, 20, 6, generator=g) * (0.4 + 1.2 * torch.rand(n, 20, 1, generator=g))
    energy = x.pow(2).sum(-1)
    return TensorDataset(x, (energy[:, :10].sum(1) > energy[:, 10:].sum(1)).long())


def main():
    torch.manual_seed(0)
    train_loader = DataLoader(windows(960, 0), batch_size=32, shuffle=True)
    val_loader = DataLoader(windows(240, 1), batch_size=40)
    model = EnergyTransformer()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for epoch in range(8):
        model.train()
        for x, y in train_loader:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            hits = sum((model(x).argmax(-1) == y).sum().item() for x, y in val_loader)
        print(f"epoch {epoch}: loss {loss.item():.3f}, val accuracy {hits / 240:.3f}")


if __name__ == "__main__":
    main()
