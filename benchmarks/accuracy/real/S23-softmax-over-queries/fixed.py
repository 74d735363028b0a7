"""Sum-of-marked-items task with hand-written self-attention."""
import math
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
V, L, D = 20, 12, 32
x = torch.randint(0, V, (700, L))
y = (x == x[:, :1]).sum(1).clamp(max=3) - 1


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v = nn.Linear(D, D), nn.Linear(D, D), nn.Linear(D, D)

    def forward(self, h):
        scores = self.q(h) @ self.k(h).transpose(1, 2) / math.sqrt(D)
        att = torch.softmax(scores, dim=2)
        return att @ self.v(h)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb, self.pos = nn.Embedding(V, D), nn.Parameter(torch.randn(1, L, D) * 0.1)
        self.att, self.norm = Attention(), nn.LayerNorm(D)
        self.out = nn.Sequential(nn.Linear(D, D), nn.ReLU(), nn.Linear(D, 3))

    def forward(self, ids):
        h = self.emb(ids) + self.pos
        return self.out(self.norm(h + self.att(h))[:, 0])


net = Net()
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
train = DataLoader(TensorDataset(x[:560], y[:560]), batch_size=40, shuffle=True)
val = DataLoader(TensorDataset(x[560:], y[560:]), batch_size=70)
for epoch in range(8):
    net.train()
    for a, b in train:
        opt.zero_grad()
        loss = nn.functional.cross_entropy(net(a), b)
        loss.backward()
        opt.step()
    net.eval()
    with torch.no_grad():
        acc = sum((net(a).argmax(1) == b).sum().item() for a, b in val) / 140
    print(epoch, loss.item(), acc)
