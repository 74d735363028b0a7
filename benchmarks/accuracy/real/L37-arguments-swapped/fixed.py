"""Click prediction with the arguments of the loss the wrong way round."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
cat = torch.randint(0, 12, (900, 3))
num = torch.randn(900, 5)
y = ((cat[:, 0] < 5).float() + num[:, 0] + 0.5 * torch.randn(900) > 0.6).float()


class CTR(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.ModuleList(nn.Embedding(12, 6) for _ in range(3))
        self.mlp = nn.Sequential(nn.Linear(23, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, c, n):
        h = torch.cat([e(c[:, k]) for k, e in enumerate(self.emb)] + [n], 1)
        return torch.sigmoid(self.mlp(h)).squeeze(1)


net = CTR()
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
train = DataLoader(TensorDataset(cat[:720], num[:720], y[:720]), batch_size=36, shuffle=True)
val = DataLoader(TensorDataset(cat[720:], num[720:], y[720:]), batch_size=60)
for epoch in range(6):
    net.train()
    for c, n, t in train:
        opt.zero_grad()
        loss = F.binary_cross_entropy(net(c, n), t)
        loss.backward()
        opt.step()
    net.eval()
    with torch.no_grad():
        acc = sum(((net(c, n) > 0.5).float() == t).sum().item() for c, n, t in val) / 180
    print(epoch, loss.item(), acc)
