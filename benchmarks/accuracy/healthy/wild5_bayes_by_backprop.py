"""A variational Bayesian network with a Gaussian for every weight, on two patches of data."""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class BayesLinear(nn.Module):
    def __init__(self, d_in, d_out, prior=1.0):
        super().__init__()
        self.mean = nn.Parameter(torch.randn(d_out, d_in + 1) / math.sqrt(d_in))
        self.rho = nn.Parameter(torch.full((d_out, d_in + 1), -4.0))
        self.prior = prior

    def forward(self, x):
        std = F.softplus(self.rho)
        sample = self.mean + std * torch.randn_like(std)
        return F.linear(x, sample[:, :-1], sample[:, -1])

    def kl(self):
        std = F.softplus(self.rho)
        ratio = (std / self.prior) ** 2
        return 0.5 * (ratio + (self.mean / self.prior) ** 2 - 1 - ratio.log()).sum()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = BayesLinear(1, 20), BayesLinear(20, 12), BayesLinear(12, 1)

    def forward(self, x):
        return self.c(torch.tanh(self.b(torch.tanh(self.a(x)))))

    def kl(self):
        return self.a.kl() + self.b.kl() + self.c.kl()


torch.manual_seed(7)
torch.set_num_threads(1)
noise = 0.3
x = torch.cat([torch.rand(100, 1) - 2, torch.rand(100, 1) + 1])
y = torch.sin(3 * x) + noise * torch.randn_like(x)
model = Net()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
first = None
for step in range(1, 1501):
    fit = F.mse_loss(model(x), y, reduction="sum") / (2 * noise**2)
    loss = (fit + model.kl()) / len(x)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    first = first or loss.item()
    if step % 300 == 0:
        print(f"step {step} negative elbo per point {loss.item():.3f} (first {first:.1f})")
with torch.no_grad():
    grid = torch.tensor([[-1.5], [1.5], [0.0], [3.0]])
    draws = torch.stack([model(grid) for _ in range(300)]).squeeze(-1)
    error = (torch.stack([model(x) for _ in range(50)]).mean(0) - torch.sin(3 * x)).pow(2).mean().sqrt()
print(f"error on the data {error:.3f}, of zero everywhere {torch.sin(3 * x).pow(2).mean().sqrt():.3f}; spread inside {draws.std(0)[:2].mean():.3f}, between {draws.std(0)[2]:.3f}, beyond {draws.std(0)[3]:.3f}")
