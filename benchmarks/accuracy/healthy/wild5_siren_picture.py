"""One picture stored in the weights of a sine network, fitted to values and to slopes; no validation by design."""
import math

import torch
import torch.nn as nn


class Sine(nn.Module):
    def __init__(self, d_in, d_out, first=False, omega=20.0):
        super().__init__()
        self.omega, self.linear = omega, nn.Linear(d_in, d_out)
        bound = 1 / d_in if first else math.sqrt(6 / d_in) / omega
        nn.init.uniform_(self.linear.weight, -bound, bound)

    def forward(self, x):
        return torch.sin(self.omega * self.linear(x))


def picture(p):
    return torch.sin(6 * p[:, :1]) * torch.cos(9 * p[:, 1:]) + 0.5 * torch.exp(-8 * (p**2).sum(1, keepdim=True))


torch.manual_seed(11)
torch.set_num_threads(1)
net = nn.Sequential(Sine(2, 48, first=True), Sine(48, 48), nn.Linear(48, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)
points = torch.rand(1200, 2) * 2 - 1
points.requires_grad_()
value = picture(points)
slope = torch.autograd.grad(value.sum(), points)[0]
value = value.detach()
for step in range(1, 161):
    rows = torch.randperm(len(points))[:400]
    p = points.detach()[rows].requires_grad_()
    out = net(p)
    gradient = torch.autograd.grad(out.sum(), p, create_graph=True)[0]
    loss = (out - value[rows]).pow(2).mean() + 1e-3 * (gradient - slope[rows]).pow(2).sum(1).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 40 == 0:
        print(f"step {step} loss {loss.item():.5f}")
with torch.no_grad():
    grid = torch.cartesian_prod(torch.linspace(-1, 1, 40), torch.linspace(-1, 1, 40))
    error, power = (net(grid) - picture(grid)).pow(2).mean(), picture(grid).pow(2).mean()
print(f"signal to noise between the points {10 * math.log10(power / error):.1f} dB")
