"""log, sqrt, division, acos, pow and atan2 at their edges, each protected in one of the usual ways."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(6, 4), nn.Linear(6, 4)

    def forward(self, x):
        top, bottom = self.a(x), F.relu(self.b(x))
        safe = torch.where(bottom > 1e-3, bottom, 1.0)
        ratio = torch.where(bottom > 1e-3, top / safe, 0.0).clamp(-5, 5)
        return ratio + top, bottom


def criterion(out, hidden, y):
    p = hidden / (hidden.sum(1, keepdim=True) + 1e-6)
    entropy = -(p * torch.log(p + 1e-8)).sum(1).mean()
    unit = F.normalize(out, dim=1)
    angle = torch.acos((unit @ unit.T).clamp(-1 + 1e-6, 1 - 1e-6)).mean()
    distance = ((out - y).pow(2).sum(1) + 1e-12).sqrt().mean()
    root = (hidden + 1e-6).pow(0.5).mean()
    heading = torch.atan2(out[:, 0], out[:, 1] + 3.0).mean()
    length = out.norm(dim=1).clamp(min=1e-6).log().mean()
    return distance + 0.01 * (entropy + angle + root + heading + length)


model = Net()
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
for _ in range(60):
    x = torch.randn(32, 6)
    out, hidden = model(x)
    loss = criterion(out, hidden, x[:, :4])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("last loss", loss.item())
