"""A gate that starts at exactly 0, under a root: its gradient is infinite, and no NaN is to be seen anywhere."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(6, 4)
        self.gate = nn.Parameter(torch.zeros(4))

    def forward(self, x):
        strength = self.gate.pow(0.5)  # <- PM103 pow
        return self.fc(x) + strength


model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for _ in range(30):
    x = torch.randn(32, 6)
    loss = F.mse_loss(model(x), x[:, :4] + 1)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("last loss", loss.item())
