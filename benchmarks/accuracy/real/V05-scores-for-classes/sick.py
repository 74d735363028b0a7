"""Classifier whose accuracy stays at zero."""
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
centres = torch.randn(5, 16)
y = torch.randint(0, 5, (800,))
x = centres[y] + torch.randn(800, 16)
net = nn.Sequential(nn.Linear(16, 48), nn.ReLU(), nn.Linear(48, 5))
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
train = DataLoader(TensorDataset(x[:640], y[:640]), batch_size=32, shuffle=True)
val = DataLoader(TensorDataset(x[640:], y[640:]), batch_size=40)
for epoch in range(6):
    net.train()
    for a, b in train:
        opt.zero_grad()
        loss = nn.functional.cross_entropy(net(a), b)
        loss.backward()
        opt.step()
    net.eval()
    correct = 0
    with torch.no_grad():
        for a, b in val:
            pred, _ = torch.max(net(a), 1)
            correct += (pred == b).sum().item()  # <- PM616
    print(f"epoch {epoch}: loss {loss.item():.3f} accuracy {correct / 160:.3f}")
