"""A mixture density network on an inverse problem with several answers, trained by log-likelihood."""
import math

import torch
from torch import nn


def inverse_problem(n):
    y = torch.rand(n) * 2 - 1
    x = y + 0.35 * torch.sin(2 * math.pi * y) + 0.03 * torch.randn(n)
    return x[:, None], y


class MDN(nn.Module):
    def __init__(self, components=4, width=40):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(1, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh())
        self.heads = nn.ModuleDict({k: nn.Linear(width, components) for k in ("weight", "mean", "log_scale")})

    def log_prob(self, x, y):
        h = self.body(x)
        logw = self.heads["weight"](h).log_softmax(1)
        mean, log_scale = self.heads["mean"](h), self.heads["log_scale"](h).clamp(-5, 2)
        comp = -0.5 * ((y[:, None] - mean) / log_scale.exp()) ** 2 - log_scale - 0.5 * math.log(2 * math.pi)
        return torch.logsumexp(logw + comp, 1)


def train(components, steps=450):
    torch.manual_seed(0)
    model = MDN(components)
    opt = torch.optim.Adam(model.parameters(), lr=5e-3)
    for step in range(steps):
        loss = -model.log_prob(*inverse_problem(200)).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 150 == 149:
            print(f"{components} components, step {step + 1}: loss {loss.item():.3f}")
    model.eval()
    with torch.no_grad():
        return model.log_prob(*inverse_problem(2000)).mean().item()


torch.set_num_threads(1)
one, many = train(1), train(5)
print(f"held-out log-likelihood with one Gaussian {one:.3f}, with five {many:.3f}")
