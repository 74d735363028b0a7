"""The average of the weights is kept in float32, next to the model."""

import torch
from torch import nn
from torch.nn import functional as F


class Shadow:
    def __init__(self, model, decay=0.997):
        self.model, self.decay = model, decay
        self.values = {name: p.detach().clone() for name, p in model.named_parameters()}
        self.kept = {}

    @torch.no_grad()
    def update(self):
        for name, p in self.model.named_parameters():
            mine = self.values[name]
            mine.mul_(self.decay).add_(p.to(mine.dtype), alpha=1 - self.decay)

    @torch.no_grad()
    def put(self):
        self.kept = {name: p.detach().clone() for name, p in self.model.named_parameters()}
        for name, p in self.model.named_parameters():
            p.copy_(self.values[name])

    @torch.no_grad()
    def take_back(self):
        for name, p in self.model.named_parameters():
            p.copy_(self.kept[name])


torch.set_num_threads(1)
torch.manual_seed(0)
x = torch.randn(1200, 12)
y = (x[:, 0] + x[:, 1] - x[:, 2] > 0).long() + (x[:, 3] > 0).long()
model = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 3))
shadow = Shadow(model)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(16):
    for rows in torch.randperm(1000).split(40):
        loss = F.cross_entropy(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        shadow.update()
    shadow.put()
    with torch.no_grad():
        right = (model(x[1000:]).argmax(1) == y[1000:]).float().mean()
    shadow.take_back()
    print(f"epoch {epoch}: loss {loss.item():.3f}, accuracy {right:.2f}")
