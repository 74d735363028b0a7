"""Follow a random walk: an LSTM reads it piece by piece and keeps its state on the module."""

import torch
import torch.nn.functional as F
from torch import nn


class Follower(nn.Module):
    def __init__(self, width: int = 16):
        super().__init__()
        self.lstm = nn.LSTM(1, width, batch_first=True)
        self.head = nn.Linear(width, 1)
        self.state = None

    def forward(self, piece: torch.Tensor) -> torch.Tensor:
        out, self.state = self.lstm(piece, self.state)
        return self.head(out)


def main() -> None:
    torch.manual_seed(0)
    walks = torch.randn(8, 400, 1).cumsum(1) / 10
    model = Follower()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
    for walk in range(8):
        model.state = None
        optimizer.zero_grad()
        for start in range(0, 190, 10):
            piece, following = walks[:, start : start + 10], walks[:, start + 1 : start + 11]
            loss = F.mse_loss(model(piece), following) / 19
            loss.backward()
            model.state = tuple(s.detach() for s in model.state)
        optimizer.step()
        print(f"walk {walk} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
