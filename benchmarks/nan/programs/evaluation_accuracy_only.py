"""In evaluation the scores are divided by a temperature that nobody has set; only the accuracy suffers visibly."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.out = nn.Linear(6, 16), nn.Linear(16, 3)
        self.register_buffer("temperature", torch.zeros(1))

    def forward(self, x):
        scores = self.out(F.relu(self.body(x)))
        if self.training:
            return scores
        return torch.softmax(scores / self.temperature, dim=1)  # <- PM102 div


def accuracy(model, x, y):
    model.eval()
    with torch.no_grad():
        hits = model(x).argmax(1) == y
    model.train()
    return hits.float().mean().item()


x = torch.randn(400, 6)
y = x[:, :3].argmax(1)
model = Net()
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
for step in range(60):
    pick = torch.randint(0, 300, (32,))
    loss = F.cross_entropy(model(x[pick]), y[pick])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 30 == 29:
        print("accuracy", accuracy(model, x[300:], y[300:]))
