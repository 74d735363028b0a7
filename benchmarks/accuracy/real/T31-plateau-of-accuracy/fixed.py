"""Reduce the learning rate when validation accuracy stops improving."""
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(900, 12)
y = ((x[:, 0] * x[:, 1] + x[:, 2] * x[:, 3]) > 0).long()
net = nn.Sequential(nn.Linear(12, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2))
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
sched = torch.optim.lr_scheduler.ReduceLROnPlateau(opt, mode="max", factor=0.3, patience=1)
train = DataLoader(TensorDataset(x[:700], y[:700]), batch_size=35, shuffle=True)
val = DataLoader(TensorDataset(x[700:], y[700:]), batch_size=50)
for epoch in range(16):
    net.train()
    for a, b in train:
        opt.zero_grad()
        loss = nn.functional.cross_entropy(net(a), b)
        loss.backward()
        opt.step()
    net.eval()
    with torch.no_grad():
        acc = sum((net(a).argmax(1) == b).sum().item() for a, b in val) / 200
    sched.step(acc)
    print(epoch, loss.item(), acc, opt.param_groups[0]["lr"])
