"""Handwritten digits with tiny micro-batches: 24 of them make one update."""

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn

MICRO, ACCUMULATE, EPOCHS = 4, 24, 6


class Reader(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Flatten(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 48), nn.Tanh())
        self.head = nn.Linear(48, 10)

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        return self.head(self.body(image))


def main() -> None:
    torch.manual_seed(0)
    torch.set_num_threads(1)
    digits = load_digits()
    images = torch.tensor(digits.images, dtype=torch.float32)[:, None] / 16
    labels = torch.tensor(digits.target)
    model = Reader()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.15, momentum=0.9)
    for epoch in range(EPOCHS):
        model.train()
        optimizer.zero_grad()
        for i, rows in enumerate(torch.randperm(1152).split(MICRO)):
            loss = F.cross_entropy(model(images[rows]), labels[rows])
            loss.backward()  # <- PM603
            if (i + 1) % ACCUMULATE == 0:
                optimizer.step()
                optimizer.zero_grad()
        model.eval()
        with torch.no_grad():
            right = (model(images[1152:]).argmax(1) == labels[1152:]).float().mean()
        print(f"epoch {epoch}: last loss {loss.item():.3f}, accuracy {right:.3f}")


if __name__ == "__main__":
    main()
