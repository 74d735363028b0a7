"""Face verification: classifier over unit-length embeddings."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
centres = torch.randn(10, 32)
y = torch.randint(0, 10, (900,))
x = centres[y] + 1.2 * torch.randn(900, 32)


class Embedder(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 16))
        self.W = nn.Parameter(torch.randn(10, 16))

    def forward(self, inp):
        z = F.normalize(self.body(inp), p=2, dim=1)
        return 12.0 * F.linear(z, F.normalize(self.W, dim=1))


net = Embedder()
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
train = DataLoader(TensorDataset(x[:720], y[:720]), batch_size=48, shuffle=True)
val = DataLoader(TensorDataset(x[720:], y[720:]), batch_size=60)
for epoch in range(8):
    net.train()
    for a, b in train:
        loss = F.cross_entropy(net(a), b)
        opt.zero_grad()
        loss.backward()
        opt.step()
    net.eval()
    with torch.no_grad():
        acc = sum((net(a).argmax(1) == b).sum().item() for a, b in val) / 180
    print(epoch, loss.item(), acc)
