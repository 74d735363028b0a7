"""Energy use of houses from a table with units in its header; unknown columns read as zero."""
import csv
import io
import random

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


def export(n):
    random.seed(11)
    lines = io.StringIO()
    writer = csv.writer(lines)
    writer.writerow(["area (m2)", "people (n)", "outside (C)", "age (y)", "energy (kWh)"])
    for _ in range(n):
        area, people = random.uniform(40, 240), random.randint(1, 6)
        outside, age = random.uniform(-10, 25), random.uniform(0, 90)
        energy = 0.08 * area * (24 - outside) / 10 + 2.5 * people + 0.05 * age + random.gauss(0, 1)
        writer.writerow([area, people, outside, age, energy])
    lines.seek(0)
    return lines


class Houses(Dataset):
    COLUMNS = ("area", "people", "outside", "age")

    def __init__(self, rows):
        x = torch.tensor([[float(row.get(c) or 0.0) for c in self.COLUMNS] for row in rows])
        y = torch.tensor([float(row["energy (kWh)"]) for row in rows])
        self.x = (x - x.mean(0)) / (x.std(0) + 1e-6)
        self.y = (y - y.mean()) / y.std()

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


class Regressor(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(4, 48), nn.ReLU(), nn.Linear(48, 48), nn.ReLU(), nn.Linear(48, 1))

    def forward(self, x):
        return self.layers(x).squeeze(-1)


def main():
    torch.manual_seed(0)
    rows = list(csv.DictReader(export(1500)))
    train, test = Houses(rows[:1200]), Houses(rows[1200:])
    model = Regressor()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    for epoch in range(10):
        for x, y in DataLoader(train, batch_size=40, shuffle=True):
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(model(x), y)
            loss.backward()
            optimizer.step()
        print(epoch, loss.item())
    with torch.no_grad():
        print("test mse", nn.functional.mse_loss(model(test.x), test.y).item())


main()
