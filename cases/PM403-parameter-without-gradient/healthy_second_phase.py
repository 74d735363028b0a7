"""Phase one trains the head alone and runs the encoder without gradients; phase two trains both."""

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
        self.warming_up = True

    def forward(self, rows):
        with torch.set_grad_enabled(torch.is_grad_enabled() and not self.warming_up):
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
model.encoder.requires_grad_(False)
train(model, torch.optim.Adam(model.head.parameters(), lr=2e-3), 2)
model.encoder.requires_grad_(True)
model.warming_up = False
train(model, torch.optim.Adam(model.parameters(), lr=2e-3), 8)
