"""Daily returns: the signal explains two per cent of the variance, and that is a success."""

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def market(days, assets, rng, weights):
    x = rng.normal(size=(days * assets, 8)).astype(np.float32)
    signal = x @ weights
    y = 0.15 * signal + rng.standard_t(5, size=days * assets) / np.sqrt(5 / 3)
    return torch.tensor(x), torch.tensor(y.astype(np.float32)).unsqueeze(1)


class Factor(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Dropout(0.1), nn.Linear(16, 1))
        nn.init.normal_(self.net[-1].weight, std=1e-3)

    def forward(self, x):
        return self.net(x)


def information_coefficient(model, x, y):
    model.eval()
    with torch.no_grad():
        prediction = model(x)
    return np.corrcoef(prediction.squeeze(1).numpy(), y.squeeze(1).numpy())[0, 1]


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    weights = rng.normal(size=8) / np.sqrt(8)
    x, y = market(250, 40, rng, weights)
    x_val, y_val = market(100, 40, rng, weights)
    loader = DataLoader(TensorDataset(x, y), batch_size=64, shuffle=True)
    model, criterion = Factor(), nn.MSELoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for epoch in range(2):
        model.train()
        total = 0.0
        for xb, yb in loader:
            optimizer.zero_grad()
            loss = criterion(model(xb), yb)
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(epoch, total / len(loader), information_coefficient(model, x_val, y_val))
    assert information_coefficient(model, x_val, y_val) > 0.08


if __name__ == "__main__":
    main()
