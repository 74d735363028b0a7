"""Predict how many stars (0 to 4) a guest gives. Stars have an order, so a squared error is right for them."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split

STARS = 5


def visits(n: int) -> TensorDataset:
    comfort = torch.randn(n, 10)
    taste = comfort @ torch.linspace(0.6, -0.3, 10) + 2 + 0.3 * torch.randn(n)
    return TensorDataset(comfort, taste.round().clamp(0, STARS - 1).long())


def main() -> None:
    torch.manual_seed(0)
    train, val = random_split(visits(1200), [1000, 200])
    model = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(6):
        model.train()
        for comfort, stars in DataLoader(train, batch_size=50, shuffle=True):
            loss = F.mse_loss(model(comfort).squeeze(1), stars.float())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        model.eval()
        exact, away = 0, 0.0
        with torch.no_grad():
            for comfort, stars in DataLoader(val, batch_size=100):
                guess = model(comfort).squeeze(1)
                exact += int((guess.round().long() == stars).sum())
                away += float((guess - stars).abs().sum())
        print(f"epoch {epoch}: loss {loss.item():.3f}  off by {away / len(val):.2f}  exact {exact / len(val):.2f}")


if __name__ == "__main__":
    main()
