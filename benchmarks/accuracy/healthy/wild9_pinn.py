"""Physics-informed network for the damped oscillator, Adam first and LBFGS to finish."""
import math

import torch
from torch import nn

DAMP, FREQ = 0.3, 2.0


def exact(t):
    w = math.sqrt(FREQ ** 2 - DAMP ** 2)
    return torch.exp(-DAMP * t) * (torch.cos(w * t) + DAMP / w * torch.sin(w * t))


class Field(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(1, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(),
                                 nn.Linear(width, 1))

    def forward(self, t):
        return 1.0 + (t / 6.0) ** 2 * 10.0 * self.net(t / 3.0 - 1.0)


def derivatives(model, t):
    t = t.clone().requires_grad_(True)
    u = model(t)
    (du,) = torch.autograd.grad(u.sum(), t, create_graph=True)
    (ddu,) = torch.autograd.grad(du.sum(), t, create_graph=True)
    return u, du, ddu


def residual(model, t):
    u, du, ddu = derivatives(model, t)
    return (ddu + 2 * DAMP * du + FREQ ** 2 * u).pow(2).mean()


@torch.no_grad()
def error(model):
    t = torch.linspace(0, 6, 301)[:, None]
    return (model(t) - exact(t)).abs().max().item()


def main():
    torch.manual_seed(1)
    model = Field()
    adam = torch.optim.Adam(model.parameters(), lr=5e-3)
    for step in range(1, 1001):
        loss = residual(model, 6 * torch.rand(128, 1))
        adam.zero_grad()
        loss.backward()
        adam.step()
        if step % 250 == 0:
            print(f"adam {step:4d}  residual {loss.item():.5f}  worst error {error(model):.4f}")
    grid = torch.linspace(0, 6, 200)[:, None]
    lbfgs = torch.optim.LBFGS(model.parameters(), lr=1.0, max_iter=20, history_size=20,
                              line_search_fn="strong_wolfe")

    def closure():
        lbfgs.zero_grad()
        value = residual(model, grid)
        value.backward()
        return value

    for round_ in range(1, 16):
        value = lbfgs.step(closure)
        if round_ % 5 == 0:
            print(f"lbfgs {round_:3d}  residual {float(value):.6f}  worst error {error(model):.5f}")


if __name__ == "__main__":
    main()
