"""Gradual unfreezing of a small text encoder."""
import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self, vocab=50, dim=24):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.mix = nn.Sequential(nn.Linear(dim, 48), nn.ReLU(), nn.Linear(48, dim))

    def forward(self, ids):
        return self.mix(self.embed(ids)).mean(1)


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = Encoder()
        self.head = nn.Linear(24, 4)

    def forward(self, ids):
        return self.head(self.encoder(ids))


def sentences(n):
    y = torch.randint(0, 4, (n,))
    ids = torch.randint(0, 50, (n, 10))
    mark = torch.rand(n, 10) < 0.3
    ids[mark] = (y.unsqueeze(1) * 4 + torch.randint(0, 4, (n, 10)))[mark]
    return ids, y


def run(model, optimizer, data, epochs, tag):
    ids, y = data
    for epoch in range(epochs):
        for rows in torch.randperm(len(y)).split(32):
            loss = nn.functional.cross_entropy(model(ids[rows]), y[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(tag, epoch, round(loss.item(), 3))


torch.manual_seed(2)
model = Classifier()
for p in model.encoder.parameters():
    p.requires_grad = False
optimizer = torch.optim.Adam(filter(lambda p: p.requires_grad, model.parameters()), lr=3e-3)  # <- PM402
data = sentences(960)
run(model, optimizer, data, 4, "head")
for p in model.encoder.parameters():
    p.requires_grad = True
run(model, optimizer, data, 6, "all")
