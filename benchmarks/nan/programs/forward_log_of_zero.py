"""A likelihood whose probability underflows to 0."""

import torch
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(6, 3)

    def forward(self, x):
        return torch.softmax(self.fc(x), dim=1)


def criterion(p, y):
    picked = p.gather(1, y[:, None])
    return -torch.log(picked).mean()  # <- PM101 log


def batch(step):
    x = torch.randn(16, 6)
    if step == 17:
        x[3] = 4000.0
    return x, torch.randint(3, (16,)) * 0 + (step % 3)


model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(30):
    x, y = batch(step)
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    loss.backward()
    optimizer.step()
print("last loss", loss.item())
