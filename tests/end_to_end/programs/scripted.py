"""TorchScript: a scripted model, a scripted loss and a traced copy."""

import warnings

import torch
import torch.nn.functional as F
from fingerprint import bits, finish
from torch import nn

warnings.simplefilter("ignore")  # TorchScript is deprecated, and so are its users
torch.manual_seed(0)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(6, 12)
        self.second = nn.Linear(12, 3)
        self.dropout = nn.Dropout(0.1)

    def forward(self, x: torch.Tensor, twice: bool = False) -> torch.Tensor:
        for _ in range(2 if twice else 1):
            x = x * 1.0
        return self.second(self.dropout(F.relu(self.first(x))))


@torch.jit.script
def objective(output: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return F.cross_entropy(output, y, label_smoothing=0.05)


plain = Block()
bits(F.cross_entropy(plain(torch.randn(4, 6)), torch.tensor([0, 1, 2, 0])))  # a call before anything is scripted
model = torch.jit.script(plain)
optimizer = torch.optim.SGD(model.parameters(), lr=0.2)
for _step in range(25):
    x = torch.randn(16, 6)
    loss = objective(model(x, twice=True), x[:, :3].argmax(1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    bits(loss)
model.eval()
traced = torch.jit.trace(plain.eval(), torch.randn(2, 6))
bits(traced(torch.ones(1, 6)).sum() - plain(torch.ones(1, 6)).sum())
finish(model)
