"""Linear-softmax regression from first principles, with own updates."""
import torch
from torch import nn

torch.manual_seed(1)
x = torch.randn(900, 12)
y = (x @ torch.randn(12, 4) + 0.5 * torch.randn(900, 4)).argmax(1)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(12, 32)
        self.fc2 = nn.Linear(32, 4)

    def forward(self, v):
        return self.fc2(torch.tanh(self.fc1(v)))


def sgd(parameters, lr):
    with torch.no_grad():
        for p in parameters:
            p = p - lr * p.grad  # <- PM405


model = Model()
for epoch in range(10):
    total = 0.0
    for rows in torch.randperm(800).split(40):
        model.zero_grad()
        loss = nn.functional.cross_entropy(model(x[rows]), y[rows])
        loss.backward()
        sgd(model.parameters(), 0.2)
        total += loss.item()
    with torch.no_grad():
        accuracy = (model(x[800:]).argmax(1) == y[800:]).float().mean().item()
    print(epoch, round(total / 20, 4), round(accuracy, 3))
