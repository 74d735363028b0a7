"""Predictive maintenance on a sensor table; columns are z-scored before training."""
import numpy as np
import torch
import torch.nn as nn

np.random.seed(0)
torch.manual_seed(0)


def load_table(machines=1500, sensors=14):
    table = np.random.randn(machines, sensors) * np.linspace(1, 30, sensors) + 100
    table[:, 9] = 55.0
    health = 0.05 * (table[:, 13] - 100) + (table[:, 2] - 100) * 0.3
    return table.astype(np.float32), health.astype(np.float32)


def zscore(table):
    return (table - table.mean(axis=0)) / table.std(axis=0)  # <- PM105


table, health = load_table()
with np.errstate(all="ignore"):
    features = torch.from_numpy(zscore(table))
targets = torch.from_numpy(health).unsqueeze(1)

model = nn.Sequential(nn.Linear(14, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(20):
    order = torch.randperm(1200)
    for start in range(0, 1200, 60):
        rows = order[start : start + 60]
        prediction = model(features[rows])
        loss = nn.functional.mse_loss(prediction, targets[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    if epoch % 5 == 0:
        with torch.no_grad():
            test = nn.functional.mse_loss(model(features[1200:]), targets[1200:])
        print(epoch, loss.item(), test.item())
