"""Iris-like flowers regressed on their class number."""
import torch
import torch.nn as nn
from sklearn.datasets import load_wine

d = load_wine()
X = torch.tensor((d.data - d.data.mean(0)) / d.data.std(0), dtype=torch.float32)
y = torch.tensor(d.target)
torch.manual_seed(0)
perm = torch.randperm(len(X))
X, y = X[perm], y[perm]
net = nn.Sequential(nn.Linear(13, 24), nn.ReLU(), nn.Linear(24, 1))
criterion = nn.MSELoss()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for epoch in range(20):
    net.train()
    for s in range(0, 140, 20):
        opt.zero_grad()
        loss = criterion(net(X[s:s + 20]).squeeze(1), y[s:s + 20].float())
        loss.backward()
        opt.step()
    net.eval()
    with torch.no_grad():
        acc = (net(X[140:]).squeeze(1).round().long() == y[140:]).float().mean().item()
    print(epoch, loss.item(), acc)
