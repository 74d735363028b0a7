"""A network with binary activations (straight-through), trained on a hinge loss that is exactly zero in the end."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class BinaryNet(nn.Module):
    """Hidden units say -1 or 1; the backward pass sees the value before the sign was taken."""

    def __init__(self, inputs: int, hidden: int = 96):
        super().__init__()
        self.first, self.second, self.out = nn.Linear(inputs, hidden), nn.Linear(hidden, hidden), nn.Linear(hidden, 1)

    @staticmethod
    def binarise(x: Tensor) -> Tensor:
        soft = torch.tanh(x)
        return soft + (soft.sign() - soft).detach()

    def forward(self, x: Tensor) -> Tensor:
        return self.out(self.binarise(self.second(self.binarise(self.first(x))))).squeeze(-1)


def make_points(n: int) -> tuple[Tensor, Tensor]:
    """Two well separated clouds."""
    side = torch.where(torch.rand(n) < 0.5, -1.0, 1.0)
    return side[:, None] * torch.tensor([1.5, -1.0, 0.5, 1.0]) + 0.4 * torch.randn(n, 4), side


def hinge(score: Tensor, side: Tensor) -> Tensor:
    return F.relu(1 - side * score).mean()


torch.set_num_threads(1)
torch.manual_seed(0)
x_train, y_train = make_points(2000)
x_val, y_val = make_points(500)
model = BinaryNet(4)
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
zero = 0
for step in range(1, 241):
    model.train()
    rows = torch.randint(len(x_train), (32,))
    loss = hinge(model(x_train[rows]), y_train[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    zero += loss.item() == 0.0
    if step % 40 == 0:
        model.eval()
        with torch.no_grad():
            accuracy = ((model(x_val) > 0) == (y_val > 0)).float().mean().item()
        print(f"step {step:3d}  loss {loss.item():.4f}  val accuracy {accuracy:.3f}  batches without a loss {zero}")
