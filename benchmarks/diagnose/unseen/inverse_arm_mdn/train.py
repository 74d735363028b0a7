# mixture density network: inverse kinematics of a two-joint arm
import math
import numpy as np
import torch
from torch import nn, optim

torch.manual_seed(40)
torch.set_num_threads(1)

K = 4
N_TRAIN, N_VAL = 4000, 600


def arm(n):
    th = torch.rand(n, 2) * torch.tensor([math.pi, math.pi * 0.8]) + 0.1
    xy = torch.stack([th[:, 0].cos() + 0.8 * th.sum(1).cos(), th[:, 0].sin() + 0.8 * th.sum(1).sin()], 1)
    return xy + 0.01 * torch.randn(n, 2), th


class MDN(nn.Module):
    def __init__(self, hidden=64):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(2, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh())
        self.pi = nn.Linear(hidden, K)
        self.mu = nn.Linear(hidden, 2 * K)
        self.ls = nn.Linear(hidden, 2 * K)
        self.apply(self.init)

    def init(self, m):
        if isinstance(m, nn.Linear):
            nn.init.normal_(m.weight, std=6.0)
            nn.init.zeros_(m.bias)

    def forward(self, x):
        h = self.body(x)
        return self.pi(h).log_softmax(-1), self.mu(h).view(-1, K, 2), self.ls(h).view(-1, K, 2).clamp(-4, 3)


def nll(out, y):
    logpi, mu, ls = out
    z = (y[:, None] - mu) / ls.exp()
    comp = -0.5 * z.pow(2).sum(-1) - ls.sum(-1) - math.log(2 * math.pi)
    return -torch.logsumexp(logpi + comp, -1).mean()


xt, yt = arm(N_TRAIN)
xv, yv = arm(N_VAL)
base = torch.distributions.Normal(yt.mean(0), yt.std(0))
print("one gaussian, no inputs: nll", round(-base.log_prob(yv).sum(-1).mean().item(), 3))

net = MDN()
opt = optim.Adam(net.parameters(), lr=1e-3)
for epoch in range(20):
    perm = torch.randperm(N_TRAIN)
    hist = []
    for i in range(0, N_TRAIN, 100):
        b = perm[i:i + 100]
        loss = nll(net(xt[b]), yt[b])
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 5.0)
        opt.step()
        hist.append(loss.item())
    if epoch % 3 == 1:
        with torch.no_grad():
            v = nll(net(xv), yv).item()
        print(f"epoch {epoch}: train nll {np.mean(hist):.3f}, val nll {v:.3f}")
