"""Flats for sale: which of three districts, and the price, from one trunk and two heads."""

import torch
import torch.nn.functional as F
from torch import nn

FEATURES, EPOCHS = 10, 10


def flats(count: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    x = torch.randn(count, FEATURES)
    district = (x[:, 0] > 0.5).long() + (x[:, 1] > 0).long()
    price = 240_000 + 60_000 * x[:, 2] + 30_000 * torch.tanh(x[:, 3]) + 5_000 * torch.randn(count)
    return x, district, price


class Flats(nn.Module):
    def __init__(self, width: int = 48) -> None:
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(FEATURES, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.district = nn.Linear(width, 3)
        self.price = nn.Linear(width, 1)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        seen = self.trunk(x)
        return self.district(seen), self.price(seen).squeeze(1)


def main() -> None:
    torch.manual_seed(0)
    torch.set_num_threads(1)
    x, district, price = flats(1600)
    val_x, val_district, val_price = flats(400)
    model = Flats()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    for epoch in range(EPOCHS):
        model.train()
        for rows in torch.randperm(len(x)).split(50):
            logits, guess = model(x[rows])
            loss = F.cross_entropy(logits, district[rows]) + F.mse_loss(guess, price[rows])  # <- PM511
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            logits, guess = model(val_x)
        right = (logits.argmax(1) == val_district).float().mean()
        print(f"epoch {epoch}: district {right:.3f}, price off by {F.l1_loss(guess, val_price):,.0f}")


if __name__ == "__main__":
    main()
