"""Only what the model knows by name is taken from the file, without the prefix that a wrapper had put before every name."""

import io

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x = torch.randn(700, 16)
y = (x[:, :8].pow(2).sum(1) > x[:, 8:].pow(2).sum(1)).long()


class Wrapped(nn.Module):
    def __init__(self, network):
        super().__init__()
        self.network = network

    def forward(self, rows):
        return self.network(rows)


def network():
    return nn.Sequential(nn.Linear(16, 48), nn.ReLU(), nn.Linear(48, 48), nn.ReLU(), nn.Linear(48, 2))


def train(model, rows, epochs):
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    for epoch in range(epochs):
        for batch in rows[torch.randperm(len(rows))].split(20):
            loss = F.cross_entropy(model(x[batch]), y[batch])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        with torch.no_grad():
            right = (model(x[600:]).argmax(1) == y[600:]).float().mean()
        print(f"epoch {epoch}: loss {loss.item():.3f}, accuracy {right:.2f}")


source = Wrapped(network())
train(source, torch.arange(600), 4)
file = io.BytesIO()
torch.save({"model": source.state_dict(), "epoch": 4}, file)
file.seek(0)

model = network()
weights = model.state_dict()
saved = torch.load(file)["model"]
short = {name.removeprefix("network."): value.clone() for name, value in saved.items()}
weights.update({name: value for name, value in short.items() if name in weights})
model.load_state_dict(weights)
train(model, torch.arange(40), 6)
