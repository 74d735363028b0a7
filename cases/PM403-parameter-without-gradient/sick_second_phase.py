"""Phase two trains the whole model, but forward() still runs the encoder without gradients, as phase one wanted it."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x = torch.randn(1200, 12)
y = (x[:, 0] * x[:, 1] > 0).long()


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU())
        self.head = nn.Linear(32, 2)

    def forward(self, rows):
        with torch.no_grad():  # <- PM403
            codes = self.encoder(rows)
        return self.head(codes)


def train(model, optimizer, epochs):
    for epoch in range(epochs):
        for rows in torch.randperm(1000).split(50):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x[rows]), y[rows])
            loss.backward()
            optimizer.step()
        with torch.no_grad():
            right = (model(x[1000:]).argmax(1) == y[1000:]).float().mean()
        print(f"epoch {epoch}: loss {loss.item():.3f}, accuracy {right:.2f}")


model = Reader()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
model.encoder.requires_grad_(False)
train(model, optimizer, 2)
model.encoder.requires_grad_(True)
train(model, optimizer, 6)
