"""A RealNVP normalizing flow on eight Gaussians: exact likelihood, inverted for sampling."""
import math

import torch
from torch import nn


class Coupling(nn.Module):
    def __init__(self, flip, width=48):
        super().__init__()
        self.flip = flip
        self.net = nn.Sequential(nn.Linear(1, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 2))
        nn.init.zeros_(self.net[-1].weight)
        nn.init.zeros_(self.net[-1].bias)

    def forward(self, x):
        a, b = x.chunk(2, 1)
        if self.flip:
            a, b = b, a
        s, t = self.net(a).chunk(2, 1)
        s = 2 * torch.tanh(s)
        b = b * s.exp() + t
        return torch.cat([b, a] if self.flip else [a, b], 1), s.squeeze(1)

    def inverse(self, y):
        a, b = y.chunk(2, 1)
        if self.flip:
            a, b = b, a
        s, t = self.net(a).chunk(2, 1)
        b = (b - t) * (-2 * torch.tanh(s)).exp()
        return torch.cat([b, a] if self.flip else [a, b], 1)


class Flow(nn.Module):
    def __init__(self, layers=6):
        super().__init__()
        self.layers = nn.ModuleList(Coupling(i % 2 == 1) for i in range(layers))

    def log_prob(self, x):
        logdet = torch.zeros(len(x))
        for layer in self.layers:
            x, s = layer(x)
            logdet = logdet + s
        return -0.5 * x.pow(2).sum(1) - math.log(2 * math.pi) + logdet

    @torch.no_grad()
    def sample(self, n):
        z = torch.randn(n, 2)
        for layer in reversed(self.layers):
            z = layer.inverse(z)
        return z


def blobs(n):
    a = torch.randint(0, 8, (n,)) * math.pi / 4
    return torch.stack([2 * a.cos(), 2 * a.sin()], 1) + 0.2 * torch.randn(n, 2)


torch.manual_seed(0)
torch.set_num_threads(1)
flow = Flow()
opt = torch.optim.Adam(flow.parameters(), lr=3e-3)
held_out = blobs(1000)
for step in range(450):
    loss = -flow.log_prob(blobs(200)).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 90 == 89:
        with torch.no_grad():
            print(f"step {step + 1} held-out log-likelihood {flow.log_prob(held_out).mean():.3f}")
gauss = torch.distributions.MultivariateNormal(held_out.mean(0), held_out.T.cov())
print(f"log-likelihood of a fitted Gaussian {gauss.log_prob(held_out).mean():.3f}")
radius = flow.sample(1000).norm(dim=1)
print(f"share of samples on the ring {((radius > 1.4) & (radius < 2.6)).float().mean():.3f}")
