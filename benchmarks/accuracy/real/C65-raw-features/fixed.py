"""Flat prices from a table in its natural units, plain SGD."""
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def flats(n, seed):
    rng = np.random.default_rng(seed)
    area = rng.uniform(20, 200, n)
    year = rng.integers(1900, 2024, n)
    rooms = np.clip(area // 25, 1, 8)
    distance = rng.uniform(50, 15000, n)
    price = 3.0 * area / 100 + 0.01 * (year - 1960) - distance / 10000 + 0.1 * rng.normal(size=n)
    return np.stack([area, year, rooms, distance], 1).astype("float32"), price.astype("float32")[:, None]


class PriceModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 16), nn.ReLU(), nn.Linear(16, 1))

    def forward(self, x):
        return self.net(x)


def main():
    torch.manual_seed(2)
    x, y = flats(1500, 0)
    x = (x - x.mean(0)) / x.std(0)
    train = DataLoader(TensorDataset(torch.from_numpy(x), torch.from_numpy(y)), batch_size=30, shuffle=True)
    model = PriceModel()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
    criterion = nn.MSELoss()
    for epoch in range(8):
        total = 0.0
        for features, price in train:
            optimizer.zero_grad()
            loss = criterion(model(features), price)
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch} mse {total / len(train):.4f}")


if __name__ == "__main__":
    main()
