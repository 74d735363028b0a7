"""Count regression: calls per hour."""
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(900, 10)
rate = torch.exp(0.4 * x[:, :3].sum(1, keepdim=True) + 0.5)
y = torch.poisson(rate)


class Counts(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, inp):
        return nn.functional.softplus(self.net(inp))


net = Counts()
criterion = nn.PoissonNLLLoss()
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
train = DataLoader(TensorDataset(x[:720], y[:720]), batch_size=36, shuffle=True)
val = DataLoader(TensorDataset(x[720:], y[720:]), batch_size=60)
for epoch in range(8):
    net.train()
    for a, b in train:
        opt.zero_grad()
        loss = criterion(net(a), b)  # <- PM504
        loss.backward()
        opt.step()
    net.eval()
    with torch.no_grad():
        v = sum(criterion(net(a), b).item() for a, b in val) / len(val)
    print(epoch, loss.item(), v)
