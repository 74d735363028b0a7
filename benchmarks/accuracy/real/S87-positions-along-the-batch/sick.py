"""Copy each token one place to the right, with a transformer encoder."""

import math

import torch
import torch.nn as nn

torch.manual_seed(0)
torch.set_num_threads(1)


class PositionalEncoding(nn.Module):
    def __init__(self, d, n=200):
        super().__init__()
        pe = torch.zeros(n, d)
        p = torch.arange(n).unsqueeze(1)
        div = torch.exp(torch.arange(0, d, 2) * (-math.log(10000.0) / d))
        pe[:, 0::2] = torch.sin(p * div)
        pe[:, 1::2] = torch.cos(p * div)
        self.register_buffer("pe", pe.unsqueeze(1))

    def forward(self, x):
        return x + self.pe[: x.size(0)]  # <- PM413


class Model(nn.Module):
    def __init__(self, d=32):
        super().__init__()
        self.emb = nn.Embedding(20, d)
        self.pos = PositionalEncoding(d)
        self.enc = nn.TransformerEncoder(
            nn.TransformerEncoderLayer(d, 4, 64, dropout=0.0, batch_first=True), 2
        )
        self.out = nn.Linear(d, 20)

    def forward(self, x):
        return self.out(self.enc(self.pos(self.emb(x))))


model = Model()
opt = torch.optim.Adam(model.parameters(), 1e-3)
for step in range(300):
    x = torch.randint(0, 20, (32, 12))
    y = x.roll(1, 1)
    loss = nn.functional.cross_entropy(model(x).flatten(0, 1), y.flatten())
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 50 == 0:
        print(step, loss.item())
