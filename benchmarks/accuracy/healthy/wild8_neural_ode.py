"""Neural ODE with a hand-written RK4 solver, fitted to short noisy pieces of a damped pendulum."""
import torch
from torch import nn

DT = 0.1


def pendulum(state):
    angle, speed = state[..., 0], state[..., 1]
    return torch.stack([speed, -2.0 * torch.sin(angle) - 0.15 * speed], dim=-1)


def rk4(field, state, dt):
    k1 = field(state)
    k2 = field(state + 0.5 * dt * k1)
    k3 = field(state + 0.5 * dt * k2)
    k4 = field(state + dt * k3)
    return state + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def rollout(field, start, steps, dt=DT):
    states = [start]
    for _ in range(steps):
        states.append(rk4(field, states[-1], dt))
    return torch.stack(states, dim=1)


class Field(nn.Module):
    def __init__(self, hidden=48):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(2, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh(), nn.Linear(hidden, 2))
        nn.init.zeros_(self.net[-1].weight)
        nn.init.zeros_(self.net[-1].bias)

    def forward(self, state):
        return self.net(state)


def starts(n, gen):
    return torch.rand(n, 2, generator=gen) * torch.tensor([4.0, 3.0]) - torch.tensor([2.0, 1.5])


def main():
    torch.manual_seed(5)
    gen = torch.Generator().manual_seed(5)
    with torch.no_grad():
        train = rollout(pendulum, starts(60, gen), 50)
        test = rollout(pendulum, starts(20, gen), 50)
    noisy = train + 0.02 * torch.randn(train.shape, generator=gen)

    model = Field()
    steps, piece = 450, 8
    optimizer = torch.optim.Adam(model.parameters(), lr=8e-3)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    for step in range(1, steps + 1):
        model.train()
        rows = torch.randint(len(noisy), (64,))
        begin = torch.randint(noisy.size(1) - piece, (64,))
        window = torch.stack([noisy[r, b:b + piece + 1] for r, b in zip(rows, begin)])
        predicted = rollout(model, window[:, 0], piece)
        loss = (predicted - window)[:, 1:].abs().mean()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        scheduler.step()
        if step % 90 == 0:
            model.eval()
            with torch.no_grad():
                long = rollout(model, test[:, 0], 50)
                error = (long - test).abs().mean().item()
            print(f"step {step} piece error {loss.item():.4f} five-second rollout error {error:.4f} "
                  f"(state scale {test.abs().mean().item():.2f})")


if __name__ == "__main__":
    main()
