"""Where does a random walk end? A ReLU RNN sums a sequence of steps."""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn


@dataclass
class Config:
    length: int = 20
    hidden: int = 32
    batch: int = 64
    steps: int = 400
    lr: float = 0.005
    max_norm: float = 1.0


def walks(size: int, length: int) -> tuple[torch.Tensor, torch.Tensor]:
    steps = torch.randn(size, length, 1)
    return steps, steps.sum((1, 2)) / length**0.5


class Walker(nn.Module):
    """An RNN started at the identity, which keeps its memory over long sequences."""

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.rnn = nn.RNN(1, hidden, nonlinearity="relu", batch_first=True)
        self.head = nn.Linear(hidden, 1)
        nn.init.eye_(self.rnn.weight_hh_l0)
        nn.init.normal_(self.rnn.weight_ih_l0, std=0.1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        outputs, _ = self.rnn(x)
        return self.head(outputs[:, -1]).squeeze(1)


@torch.no_grad()
def evaluate(model: Walker, x: torch.Tensor, y: torch.Tensor) -> float:
    model.eval()
    return F.mse_loss(model(x), y).item()


def train(config: Config) -> None:
    model = Walker(config.hidden)
    optimizer = torch.optim.SGD(model.parameters(), lr=config.lr, momentum=0.9)
    x_val, y_val = walks(512, config.length)
    print(f"variance of the target {y_val.var():.3f}")

    losses = []
    for step in range(1, config.steps + 1):
        model.train()
        x, y = walks(config.batch, config.length)
        loss = F.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        nn.utils.clip_grad_norm_(model.parameters(), config.max_norm)  # <- PM604
        losses.append(loss.item())
        if step % 50 == 0:
            print(
                f"step {step}: train mse {sum(losses[-50:]) / 50:.4f}  worst {max(losses[-50:]):.4f}  "
                f"val mse {evaluate(model, x_val, y_val):.4f}"
            )


if __name__ == "__main__":
    torch.set_num_threads(1)
    torch.manual_seed(0)
    train(Config())
