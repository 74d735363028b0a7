"""Readings of a machine, each seen twice with other noise: the two views of a reading are to look alike."""

import torch
import torch.nn.functional as F
from torch import nn

WIDTH, EPOCHS = 24, 12


class Views(nn.Module):
    def __init__(self, size: int = 16) -> None:
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(WIDTH, 64), nn.ReLU(), nn.Linear(64, size))
        self.predictor = nn.Sequential(nn.Linear(size, 32), nn.ReLU(), nn.Linear(32, size))

    def forward(self, a: torch.Tensor, b: torch.Tensor) -> tuple[torch.Tensor, ...]:
        first, second = self.encoder(a), self.encoder(b)
        return self.predictor(first), self.predictor(second), first, second


def apart(guess: torch.Tensor, view: torch.Tensor) -> torch.Tensor:
    return 1 - F.cosine_similarity(guess, view, dim=1).mean()  # <- PM517


def main() -> None:
    torch.manual_seed(0)
    torch.set_num_threads(1)
    kind = torch.randint(4, (1200,))
    x = 1.5 * torch.randn(4, WIDTH)[kind] + torch.randn(1200, WIDTH)
    model = Views()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.2, momentum=0.9)
    for epoch in range(EPOCHS):
        for rows in torch.randperm(len(x)).split(60):
            a, b = (x[rows] + 0.5 * torch.randn(len(rows), WIDTH) for _ in range(2))
            guess_a, guess_b, view_a, view_b = model(a, b)
            loss = (apart(guess_a, view_b) + apart(guess_b, view_a)) / 2
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        with torch.no_grad():
            codes = F.normalize(model.encoder(x), dim=1)
        print(f"epoch {epoch}: loss {loss.item():.4f}, spread {codes.std(0).mean():.4f}")


if __name__ == "__main__":
    main()
