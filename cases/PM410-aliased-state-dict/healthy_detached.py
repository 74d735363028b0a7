"""Breast cancer from cell measurements: the best weights are copied; detached ones go to and fro at once."""

import torch
import torch.nn.functional as F
from sklearn.datasets import load_breast_cancer
from torch import nn


def cells() -> tuple[torch.Tensor, torch.Tensor]:
    data = load_breast_cancer()
    x = torch.tensor((data.data - data.data.mean(0)) / data.data.std(0), dtype=torch.float32)
    order = torch.randperm(len(x))
    return x[order], torch.tensor(data.target)[order]


def main() -> None:
    torch.manual_seed(0)
    x, y = cells()
    train_x, train_y, val_x, val_y = x[:300], y[:300], x[300:], y[300:]
    model = nn.Sequential(nn.Linear(30, 64), nn.ReLU(), nn.Linear(64, 2))
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-2)
    best_loss, best_weights = float("inf"), {}
    for epoch in range(40):
        for batch in torch.randperm(len(train_x)).split(30):
            loss = F.cross_entropy(model(train_x[batch]), train_y[batch])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        with torch.no_grad():
            val_loss = F.cross_entropy(model(val_x), val_y).item()
        if val_loss < best_loss:
            best_loss = val_loss
            best_weights = {k: v.detach().cpu().clone() for k, v in model.state_dict().items()}
        print(f"epoch {epoch:2d} loss {loss.item():.4f} validation {val_loss:.4f}")
    model.load_state_dict(best_weights)
    model.load_state_dict({k: v.detach().cpu() for k, v in model.state_dict().items() if k in best_weights})


if __name__ == "__main__":
    main()
