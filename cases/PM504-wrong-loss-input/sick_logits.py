"""Classify wines with a small network; the last layer's scores go straight into nll_loss."""

import torch
import torch.nn.functional as F
from sklearn.datasets import load_wine
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split

torch.set_num_threads(1)
torch.manual_seed(0)

table, cultivar = load_wine(return_X_y=True)
features = torch.tensor((table - table.mean(0)) / table.std(0), dtype=torch.float32)
train, valid = random_split(TensorDataset(features, torch.tensor(cultivar)), [140, 38])
loader = DataLoader(train, batch_size=20, shuffle=True)
model = nn.Sequential(nn.Linear(13, 32), nn.ReLU(), nn.Linear(32, 3))
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)

for epoch in range(8):
    model.train()
    total = 0.0
    for x, y in loader:
        loss = F.nll_loss(model(x), y)  # <- PM504
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    model.eval()
    with torch.no_grad():
        right = sum(int((model(x).argmax(1) == y).sum()) for x, y in DataLoader(valid, batch_size=38))
    print(f"epoch {epoch}  loss {total / len(loader):+.3f}  accuracy {right / len(valid):.3f}")
