"""Sensor faults from a table in which -9999 means that a reading is missing: the scaler takes it for a number."""

import numpy as np
import torch
from sklearn.preprocessing import MinMaxScaler
from torch import nn


def readings(count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    values = rng.normal(20.0, 4.0, (count, 6))
    faulty = (values[:, 0] + values[:, 2] - values[:, 4] + rng.normal(0, 1, count) > 20).astype(np.int64)
    values[rng.random(values.shape) < 0.05] = -9999.0
    return values, faulty


def main() -> None:
    torch.manual_seed(0)
    torch.set_num_threads(1)
    values, faulty = readings(900, 0)
    held_out, truth = readings(300, 1)
    scaler = MinMaxScaler().fit(values)
    x = torch.tensor(scaler.transform(values), dtype=torch.float32)  # <- PM301
    x_val = torch.tensor(scaler.transform(held_out), dtype=torch.float32)
    y, y_val = torch.from_numpy(faulty), torch.from_numpy(truth)
    model = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 2))
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(8):
        for rows in torch.randperm(len(x)).split(30):
            loss = nn.functional.cross_entropy(model(x[rows]), y[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        with torch.no_grad():
            accuracy = (model(x_val).argmax(1) == y_val).float().mean()
        print(f"epoch {epoch}: loss {loss.item():.3f}  accuracy {accuracy:.3f}")


main()
