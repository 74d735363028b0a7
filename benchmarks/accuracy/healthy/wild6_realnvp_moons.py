"""RealNVP on the two moons by exact maximum likelihood."""
import math

import torch
import torch.nn as nn
from sklearn.datasets import make_moons


class Coupling(nn.Module):
    def __init__(self, flip):
        super().__init__()
        self.flip = flip
        self.net = nn.Sequential(nn.Linear(1, 48), nn.Tanh(), nn.Linear(48, 48), nn.Tanh(), nn.Linear(48, 2))
        nn.init.zeros_(self.net[-1].weight)
        nn.init.zeros_(self.net[-1].bias)

    def forward(self, x):
        a, b = x.chunk(2, 1)
        if self.flip:
            a, b = b, a
        s, t = self.net(a).chunk(2, 1)
        s = 1.5 * torch.tanh(s)
        b = b * s.exp() + t
        return (torch.cat([b, a], 1) if self.flip else torch.cat([a, b], 1)), s.squeeze(1)


class Flow(nn.Module):
    def __init__(self, depth=6):
        super().__init__()
        self.layers = nn.ModuleList(Coupling(i % 2 == 1) for i in range(depth))

    def log_prob(self, x):
        total = 0.0
        for layer in self.layers:
            x, ld = layer(x)
            total = total + ld
        return total - 0.5 * x.pow(2).sum(1) - math.log(2 * math.pi)


torch.manual_seed(0)
torch.set_num_threads(1)
pts, _ = make_moons(2400, noise=0.06, random_state=0)
pts = torch.tensor((pts - pts.mean(0)) / pts.std(0), dtype=torch.float32)
train, test = pts[:2000], pts[2000:]
flow = Flow()
opt = torch.optim.Adam(flow.parameters(), lr=2e-3)
for epoch in range(30):
    for b in torch.randperm(len(train)).split(100):
        loss = -flow.log_prob(train[b]).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    if epoch % 6 == 5:
        with torch.no_grad():
            print(f"epoch {epoch + 1}: nll train {loss.item():.3f} test {-flow.log_prob(test).mean():.3f}")
