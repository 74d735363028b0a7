"""Shop visits: most columns are amounts with many zeros and long tails, scaled with the training part's statistics."""

import numpy as np
import torch
from torch import nn


def visits(count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    spent = rng.lognormal(3.0, 1.0, (count, 4)) * (rng.random((count, 4)) < 0.6)
    minutes = rng.gamma(2.0, 10.0, (count, 2))
    member = (rng.random((count, 1)) < 0.1).astype(float)
    score = 0.02 * spent[:, 0] + 0.03 * minutes[:, 0] + 2.0 * member[:, 0] + rng.normal(0, 0.5, count)
    return np.hstack([spent, minutes, member]), (score > 1.5).astype(np.int64)


def main() -> None:
    torch.manual_seed(0)
    torch.set_num_threads(1)
    (rows, bought), (rows_val, bought_val) = visits(900, 0), visits(300, 1)
    mean, std = rows.mean(0), rows.std(0)
    x = torch.tensor((rows - mean) / std, dtype=torch.float32)
    x_val = torch.tensor((rows_val - mean) / std, dtype=torch.float32)
    y, y_val = torch.from_numpy(bought), torch.from_numpy(bought_val)
    model = nn.Sequential(nn.Linear(7, 32), nn.ReLU(), nn.Linear(32, 2))
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(8):
        for picked in torch.randperm(len(x)).split(30):
            loss = nn.functional.cross_entropy(model(x[picked]), y[picked])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        with torch.no_grad():
            accuracy = (model(x_val).argmax(1) == y_val).float().mean()
        print(f"epoch {epoch}: loss {loss.item():.3f}  accuracy {accuracy:.3f}")


main()
