import math

import torch
import torch.nn as nn

VOCAB, LENGTH, WIDTH = 24, 14, 48


class PositionalEncoding(nn.Module):
    def __init__(self, width, length):
        super().__init__()
        position = torch.arange(length)[:, None]
        rate = torch.exp(torch.arange(0, width, 2) * (-math.log(1000.0) / width))
        table = torch.zeros(1, length, width)
        table[0, :, 0::2] = torch.sin(position * rate)
        table[0, :, 1::2] = torch.cos(position * rate)
        self.register_buffer("table", table)

    def forward(self, x):
        return x + self.table[:, : x.shape[1]]


class MotifClassifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, WIDTH)
        self.position = PositionalEncoding(WIDTH, LENGTH)
        layer = nn.TransformerEncoderLayer(WIDTH, nhead=4, dim_feedforward=96, dropout=0.0)
        self.encoder = nn.TransformerEncoder(layer, num_layers=2, enable_nested_tensor=False)
        self.head = nn.Linear(WIDTH, 2)

    def forward(self, tokens):
        x = self.position(self.embed(tokens))
        x = self.encoder(x)  # <- PM413
        return self.head(x[:, 0])


def batch(n):
    """Does the first token come back anywhere later?"""
    tokens = torch.randint(0, VOCAB, (n, LENGTH))
    first = tokens[:, :1]
    rest = torch.where(tokens[:, 1:] == first, (first + 1) % VOCAB, tokens[:, 1:])
    label = torch.randint(0, 2, (n,))
    where = torch.randint(0, LENGTH - 1, (n, 1))
    again = torch.zeros_like(rest, dtype=torch.bool).scatter(1, where, (label == 1)[:, None])
    return torch.cat([first, torch.where(again, first, rest)], 1), label


def main():
    torch.manual_seed(19)
    torch.set_num_threads(1)
    model = MotifClassifier()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    criterion = nn.CrossEntropyLoss()
    smooth = None
    for step in range(1, 361):
        tokens, label = batch(64)
        optimizer.zero_grad()
        loss = criterion(model(tokens), label)
        loss.backward()
        optimizer.step()
        smooth = loss.item() if smooth is None else 0.95 * smooth + 0.05 * loss.item()
        if step % 60 == 0:
            model.eval()
            with torch.no_grad():
                tokens, label = batch(500)
                accuracy = (model(tokens).argmax(1) == label).float().mean().item()
            model.train()
            print(f"step {step} loss {smooth:.3f} accuracy {accuracy:.3f}")


main()
