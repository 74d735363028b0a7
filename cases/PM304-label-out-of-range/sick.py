"""Cultivar from chemical analysis, read in the layout of the UCI file wine.data (class first, then 13 numbers)."""

import io

import numpy as np
import torch
from sklearn.datasets import load_wine
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def uci_wine_file() -> io.StringIO:
    wine = load_wine()
    file = io.StringIO()
    np.savetxt(file, np.column_stack([wine.target + 1, wine.data]), delimiter=",", fmt="%.4f")
    file.seek(0)
    return file


torch.set_num_threads(1)
torch.manual_seed(0)
table = np.loadtxt(uci_wine_file(), delimiter=",")
cultivar = torch.tensor(table[:, 0], dtype=torch.long)
features = torch.tensor(table[:, 1:], dtype=torch.float32)

order = torch.randperm(len(cultivar))
train, val = order[:134], order[134:]
mean, std = features[train].mean(dim=0), features[train].std(dim=0)
features = (features - mean) / std
loader = DataLoader(TensorDataset(features[train], cultivar[train]), batch_size=16, shuffle=True)

model = nn.Sequential(nn.Linear(13, 32), nn.ReLU(), nn.Dropout(0.1), nn.Linear(32, 3))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)

for epoch in range(15):
    model.train()
    total = 0.0
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        total += loss.item()
    model.eval()
    with torch.no_grad():
        accuracy = (model(features[val]).argmax(1) == cultivar[val]).float().mean().item()
    print(f"epoch {epoch:2d}  loss {total / len(loader):.4f}  val acc {accuracy:.3f}")
