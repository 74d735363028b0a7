"""Densities whose negative log-likelihood goes below zero: Gaussian NLL, a mixture density network, a RealNVP flow."""

import math

import torch
from torch import nn
from torch.nn import functional as F

torch.set_num_threads(1)
torch.manual_seed(0)


def fit(parameters, loss_of, steps, lr, name):
    optimizer = torch.optim.Adam(parameters, lr=lr)
    first = None
    for step in range(steps):
        loss = loss_of()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        first = loss.item() if first is None else first
        if step % 50 == 0:
            print(name, step, loss.item())
    return first, loss.item()


# heteroscedastic regression
regressor = nn.Sequential(nn.Linear(1, 48), nn.Tanh(), nn.Linear(48, 2))


def gaussian():
    x = 2 * torch.rand(128, 1) - 1
    y = 0.3 * torch.sin(3 * x) + (0.02 + 0.05 * x.abs()) * torch.randn_like(x)
    mean, raw = regressor(x).chunk(2, dim=1)
    return F.gaussian_nll_loss(mean, y, F.softplus(raw) + 1e-6)


a = fit(regressor.parameters(), gaussian, 250, 1e-2, "gaussian")

# mixture density network for an inverse problem
K = 5
mdn = nn.Sequential(nn.Linear(1, 64), nn.Tanh(), nn.Linear(64, 3 * K))


def mixture():
    y = torch.rand(128, 1)
    x = y + 0.3 * torch.sin(2 * math.pi * y) + 0.02 * torch.randn_like(y)
    logits, mean, log_std = mdn(x).chunk(3, dim=1)
    log_prob = -0.5 * ((y - mean) / log_std.exp()) ** 2 - log_std - 0.5 * math.log(2 * math.pi)
    return -torch.logsumexp(F.log_softmax(logits, dim=1) + log_prob, dim=1).mean()


b = fit(mdn.parameters(), mixture, 250, 1e-2, "mixture")


class Coupling(nn.Module):
    def __init__(self, flip):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(1, 32), nn.ReLU(), nn.Linear(32, 2))
        nn.init.zeros_(self.net[-1].weight)
        nn.init.zeros_(self.net[-1].bias)
        self.flip = flip

    def forward(self, x):
        x1, x2 = x.chunk(2, dim=1) if not self.flip else reversed(x.chunk(2, dim=1))
        scale, shift = self.net(x1).chunk(2, dim=1)
        scale = torch.tanh(scale)
        z2 = x2 * scale.exp() + shift
        return torch.cat([x1, z2] if not self.flip else [z2, x1], dim=1), scale.squeeze(1)


flow = nn.ModuleList([Coupling(i % 2 == 1) for i in range(6)])
base = torch.distributions.MultivariateNormal(torch.zeros(2), torch.eye(2))


def bananas():
    x = 0.25 * torch.randn(128, 2)
    z = torch.stack([x[:, 0], 0.1 * x[:, 1] + x[:, 0] ** 2], 1)
    total = 0
    for layer in flow:
        z, log_det = layer(z)
        total = total + log_det
    return -(base.log_prob(z) + total).mean()


c = fit(flow.parameters(), bananas, 250, 5e-3, "flow")
print(a, b, c)
assert a[1] < -0.5 and b[1] < -0.3 and c[1] < c[0] - 1.5
