"""The backbone is to be trained from the second phase on, but == compares where = was meant."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x = torch.randn(1200, 12)
y = (x[:, 0] * x[:, 1] > 0).long()


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU())
        self.head = nn.Linear(32, 2)

    def forward(self, rows):
        return self.head(self.backbone(rows))


def release(module):
    for parameter in module.parameters():
        parameter.requires_grad == True  # noqa: B015, E712  # <- PM404


model = Tagger()
model.backbone.requires_grad_(False)
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
for epoch in range(8):
    if epoch == 2:
        release(model.backbone)
    for rows in torch.randperm(1000).split(50):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x[rows]), y[rows])
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        right = (model(x[1000:]).argmax(1) == y[1000:]).float().mean()
    print(f"epoch {epoch}: loss {loss.item():.3f}, accuracy {right:.2f}")
