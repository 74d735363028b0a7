"""Second-order MAML on sine waves with functional_call."""
import math

import torch
import torch.nn as nn
from torch.func import functional_call


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.f = nn.Sequential(nn.Linear(1, 40), nn.ReLU(), nn.Linear(40, 40), nn.ReLU(), nn.Linear(40, 1))

    def forward(self, x):
        return self.f(x)


def task():
    amp, phase = 0.5 + 2 * torch.rand(1), math.pi * torch.rand(1)
    return lambda x: amp * torch.sin(x + phase)


def points(n=10):
    return torch.rand(n, 1) * 8 - 4


def adapt(net, params, x, y, steps, lr, create_graph):
    for _ in range(steps):
        loss = nn.functional.mse_loss(functional_call(net, params, (x,)), y)
        grads = torch.autograd.grad(loss, list(params.values()), create_graph=create_graph)
        params = {k: p - lr * g for (k, p), g in zip(params.items(), grads)}
    return params


torch.manual_seed(0)
torch.set_num_threads(1)
net = Net()
meta = torch.optim.Adam(net.parameters(), lr=2e-3)


def after_adaptation(n=60):
    g = torch.random.get_rng_state()
    torch.manual_seed(99)
    total = 0.0
    for _ in range(n):
        f, x, xq = task(), points(), points(50)
        params = {k: p.detach().requires_grad_() for k, p in net.named_parameters()}
        fast = adapt(net, params, x, f(x), 3, 0.02, False)
        with torch.no_grad():
            total += nn.functional.mse_loss(functional_call(net, fast, (xq,)), f(xq)).item()
    torch.random.set_rng_state(g)
    return total / n


print(f"start: query error after 3 inner steps {after_adaptation():.3f}")
for it in range(400):
    meta.zero_grad()
    outer = 0.0
    for _ in range(8):
        f, x, xq = task(), points(), points()
        fast = adapt(net, dict(net.named_parameters()), x, f(x), 1, 0.02, True)
        outer = outer + nn.functional.mse_loss(functional_call(net, fast, (xq,)), f(xq))
    outer = outer / 8
    outer.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 5.0)
    meta.step()
    if it % 100 == 99:
        print(f"meta step {it + 1}: outer loss {outer.item():.3f}, query error after 3 inner steps {after_adaptation():.3f}")
