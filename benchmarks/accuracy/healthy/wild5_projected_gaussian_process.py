"""A Gaussian process on a learned projection, trained by its exact marginal likelihood through a Cholesky factor."""
import math

import torch
import torch.nn as nn


class ProjectedGP(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.features = nn.Linear(d, 2)
        self.log_length = nn.Parameter(torch.zeros(()))
        self.log_scale = nn.Parameter(torch.zeros(()))
        self.log_noise = nn.Parameter(torch.tensor(-1.0))

    def kernel(self, a, b):
        a, b = self.features(a), self.features(b)
        square = (a[:, None] - b[None]).pow(2).sum(-1)
        return (2 * self.log_scale).exp() * torch.exp(-0.5 * square / (2 * self.log_length).exp())

    def factor(self, x):
        cov = self.kernel(x, x) + ((2 * self.log_noise).exp() + 1e-5) * torch.eye(len(x), dtype=x.dtype)
        return torch.linalg.cholesky(cov)

    def forward(self, x, y):
        chol = self.factor(x)
        alpha = torch.cholesky_solve(y[:, None], chol).squeeze(1)
        return (0.5 * y @ alpha + chol.diagonal().log().sum() + 0.5 * len(y) * math.log(2 * math.pi)) / len(y)

    @torch.no_grad()
    def predict(self, x, y, new):
        chol = self.factor(x)
        cross = self.kernel(x, new)
        mean = cross.T @ torch.cholesky_solve(y[:, None], chol).squeeze(1)
        var = (2 * self.log_scale).exp() - torch.linalg.solve_triangular(chol, cross, upper=False).pow(2).sum(0)
        return mean, (var + (2 * self.log_noise).exp()).sqrt()


torch.manual_seed(8)
torch.set_num_threads(1)
x = torch.rand(260, 6, dtype=torch.float64) * 2 - 1
y = torch.sin(4 * (x[:, 0] + x[:, 1])) + 0.1 * torch.randn(260, dtype=torch.float64)
train, test = slice(0, 140), slice(140, None)
model = ProjectedGP(6).double()
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
for step in range(1, 301):
    nll = model(x[train], y[train])
    optimizer.zero_grad()
    nll.backward()
    optimizer.step()
    if step % 75 == 0:
        mean, std = model.predict(x[train], y[train], x[test])
        r2 = 1 - (mean - y[test]).pow(2).mean() / y[test].var()
        inside = ((mean - y[test]).abs() < 2 * std).double().mean()
        print(f"step {step} nll {nll.item():.3f} test R2 {r2:.3f} inside two deviations {inside:.2f}")
