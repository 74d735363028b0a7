"""Tomorrow's demand of a small shop from the daily changes of the last week, with a GRU."""

import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

DAYS, WEEK = 900, 7


def demand() -> Tensor:
    level, sold = 0.0, []
    for _ in range(DAYS):
        level = 0.9 * level + 0.3 * float(torch.randn(()))
        sold.append(round(8 * 2.718**level))
    days = torch.tensor(sold, dtype=torch.float32)
    days[torch.rand(DAYS) < 0.03] = 0  # closed
    return days


def windows(days: Tensor) -> tuple[Tensor, Tensor]:
    change = (days[1:] - days[:-1]) / days[:-1]  # <- PM105
    change = torch.where(change.isnan(), 0.0, change)
    x, y = [], []
    for day in range(WEEK, len(change)):
        x.append(torch.stack([change[day - WEEK : day], 0.1 * days[day - WEEK + 1 : day + 1]], dim=1))
        y.append(0.1 * days[day + 1])
    return torch.stack(x), torch.stack(y)


class Forecast(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.gru = nn.GRU(2, 16, batch_first=True)
        self.out = nn.Linear(16, 1)

    def forward(self, x: Tensor) -> Tensor:
        return self.out(self.gru(x)[0][:, -1]).squeeze(1)


def main() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    x, y = windows(demand())
    loader = DataLoader(TensorDataset(x, y), batch_size=32, shuffle=True)
    model = Forecast()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(4):
        total = 0.0
        for xb, yb in loader:
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(model(xb), yb)
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch} loss {total / len(loader):.4f}")


if __name__ == "__main__":
    main()
