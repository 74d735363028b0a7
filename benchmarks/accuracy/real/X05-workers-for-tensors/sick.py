"""Curve fitting on a thousand points that live in memory."""
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Regressor(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(1, 10), nn.ELU(), nn.Linear(10, 1))

    def forward(self, x):
        return self.net(x)


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    x = torch.linspace(-3, 3, 1000).unsqueeze(1)
    y = torch.sin(x) + 0.05 * torch.randn_like(x)
    loader = DataLoader(TensorDataset(x, y), batch_size=64, shuffle=True, num_workers=4)  # <- PM707
    model = Regressor()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    start = time.perf_counter()
    for epoch in range(30):
        total = 0.0
        for xb, yb in loader:
            loss = nn.functional.mse_loss(model(xb), yb)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        if epoch % 5 == 0:
            print(f"epoch {epoch} loss {total / len(loader):.4f} after {time.perf_counter() - start:.2f} s")


if __name__ == "__main__":
    main()
