"""L-BFGS calls the loss through a closure, several times per step."""

import torch
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)
x = torch.randn(64, 3)
model = nn.Linear(3, 1, bias=False)
optimizer = torch.optim.LBFGS(model.parameters(), lr=0.5, max_iter=4)
targets = x @ torch.tensor([[1.0], [-2.0], [0.5]])


def closure():
    optimizer.zero_grad()
    out = model(x)
    gap = (out - targets).abs().amax(1)
    loss = gap.sqrt().mean()  # <- PM103 sqrt
    loss.backward()
    return loss


for step in range(10):
    if step == 6:
        x[5], targets[5] = 0.0, 0.0
    loss = optimizer.step(closure)
print("last loss", loss.item())
