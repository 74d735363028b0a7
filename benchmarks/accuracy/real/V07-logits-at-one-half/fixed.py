"""Fraud detection: recall at one half."""
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(900, 12)
y = (x[:, :4].sum(1, keepdim=True) + torch.randn(900, 1) > 1.0).float()
net = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 1))
crit = nn.BCEWithLogitsLoss()
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
train = DataLoader(TensorDataset(x[:720], y[:720]), batch_size=36, shuffle=True)
val = DataLoader(TensorDataset(x[720:], y[720:]), batch_size=60)
for epoch in range(8):
    net.train()
    for a, b in train:
        opt.zero_grad()
        loss = crit(net(a), b)
        loss.backward()
        opt.step()
    net.eval()
    tp = pos = 0
    with torch.no_grad():
        for a, b in val:
            pred = (torch.sigmoid(net(a)) > 0.5).float()
            tp += (pred * b).sum().item()
            pos += b.sum().item()
    print(f"epoch {epoch}: loss {loss.item():.3f} recall {tp / pos:.3f}")
