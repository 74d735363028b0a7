"""A recurrent model that carries its state over, and a loss with a root of what may be 0."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.GRUCell(6, 3)

    def forward(self, x, h):
        h = self.fc(x, h)
        return h, h


def energy(out, keep):
    moved = (out * keep).pow(2).sum(1)
    return moved.sqrt().mean()  # <- PM103 sqrt


model = Net()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
state = torch.zeros(16, 3)
for step in range(30):
    x = torch.randn(16, 6)
    keep = torch.ones(16, 1)
    if step == 22:
        keep[3] = 0.0
    out, state = model(x, state)
    loss = F.mse_loss(out, x[:, :3].tanh()) + 0.1 * energy(out, keep)
    state = state.detach()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("last loss", loss.item())
