"""A neural ODE with a hand-written Runge-Kutta step, fitted to trajectories of a pendulum with friction."""
import torch
from torch import nn


class Field(nn.Module):
    def __init__(self, width=40):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, width), nn.Tanh(), nn.Linear(width, 2))

    def forward(self, s):
        return self.net(s)


def rk4(f, s, dt):
    k1 = f(s)
    k2 = f(s + dt / 2 * k1)
    k3 = f(s + dt / 2 * k2)
    k4 = f(s + dt * k3)
    return s + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def solve(f, s, steps, dt):
    path = [s]
    for _ in range(steps):
        s = rk4(f, s, dt)
        path.append(s)
    return torch.stack(path)


def pendulum(s):
    return torch.stack([s[:, 1], -2 * torch.sin(s[:, 0]) - 0.3 * s[:, 1]], 1)


def main():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    start = 3 * torch.rand(120, 2) - 1.5
    paths = solve(pendulum, start, 60, 0.1) + 0.01 * torch.randn(61, 120, 2)
    test_start = 3 * torch.rand(60, 2) - 1.5
    test_paths = solve(pendulum, test_start, 60, 0.1)
    field = Field()
    opt = torch.optim.Adam(field.parameters(), lr=1e-2)
    with torch.no_grad():
        print(f"error before {(solve(field, test_start, 60, 0.1) - test_paths).pow(2).mean():.4f}")
    for step in range(220):
        horizon = 5 if step < 100 else 12
        t = torch.randint(0, 61 - horizon, (48,))
        who = torch.randint(0, 120, (48,))
        piece = torch.stack([paths[t + k, who] for k in range(horizon + 1)])
        loss = (solve(field, piece[0], horizon, 0.1) - piece).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 44 == 43:
            print(f"step {step + 1} loss {loss.item():.5f}")
    with torch.no_grad():
        print(f"error after {(solve(field, test_start, 60, 0.1) - test_paths).pow(2).mean():.4f}")
        print(f"error of standing still {(test_start - test_paths).pow(2).mean():.4f}")


if __name__ == "__main__":
    main()
