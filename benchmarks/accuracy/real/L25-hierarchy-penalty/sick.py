"""Two-level classification with a hierarchy penalty."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
fine = torch.arange(1200) % 6
coarse = fine // 2
x = torch.randn(6, 20)[fine] + 0.9 * torch.randn(1200, 20)


class TwoLevel(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(20, 48), nn.ReLU())
        self.l1, self.l2 = nn.Linear(48, 3), nn.Linear(48, 6)

    def forward(self, x):
        h = self.trunk(x)
        return self.l1(h), self.l2(h)


class HierLoss:
    def __init__(self, alpha=1.0, beta=0.8):
        self.alpha, self.beta = alpha, beta
        self.parent = torch.arange(6) // 2

    def lloss(self, out, labels):
        return self.alpha * sum(F.cross_entropy(o, l) for o, l in zip(out, labels))

    def dloss(self, out):
        wrong = torch.FloatTensor([float(self.parent[b] != a) for a, b in zip(out[0].argmax(1), out[1].argmax(1))])  # <- PM506
        return self.beta * (torch.exp(wrong) - 1).mean()


net, hl = TwoLevel(), HierLoss()
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
loader = DataLoader(TensorDataset(x[:1000], coarse[:1000], fine[:1000]), batch_size=50, shuffle=True)
for epoch in range(6):
    net.train()
    for xb, c, f in loader:
        out = net(xb)
        total = hl.lloss(out, (c, f)) + hl.dloss(out)
        opt.zero_grad()
        total.backward()
        opt.step()
    net.eval()
    with torch.no_grad():
        o = net(x[1000:])
        print(epoch, total.item(), (o[1].argmax(1) == fine[1000:]).float().mean().item())
