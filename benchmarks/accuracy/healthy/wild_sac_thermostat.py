"""Soft actor-critic with twin critics, target networks and a learned temperature, on a one-room thermostat."""
import copy
import math

import torch
import torch.nn.functional as F
from torch import nn


class Room:
    """Keep the temperature at zero against a slow draught; the heater takes -1 to 1."""

    def __init__(self, n):
        self.n = n
        self.reset()

    def reset(self):
        self.temp = 2 * torch.rand(self.n, 1) - 1
        self.draught = 0.6 * (2 * torch.rand(self.n, 1) - 1)
        return torch.cat([self.temp, self.draught], 1)

    def step(self, action):
        self.temp = (0.9 * self.temp + 0.5 * action + 0.4 * self.draught).clamp(-2, 2)
        reward = -self.temp.squeeze(1).pow(2) - 0.02 * action.squeeze(1).pow(2)
        return torch.cat([self.temp, self.draught], 1), reward


def mlp(i, o):
    return nn.Sequential(nn.Linear(i, 48), nn.ReLU(), nn.Linear(48, 48), nn.ReLU(), nn.Linear(48, o))


class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = mlp(2, 2)

    def forward(self, s):
        mu, log_std = self.net(s).chunk(2, 1)
        std = log_std.clamp(-5, 1).exp()
        u = mu + std * torch.randn_like(mu)
        a = torch.tanh(u)
        logp = -0.5 * ((u - mu) / std).pow(2) - std.log() - 0.5 * math.log(2 * math.pi)
        logp = logp - 2 * (math.log(2) - u - F.softplus(-2 * u))
        return a, logp.squeeze(1), torch.tanh(mu)


class Twin(nn.Module):
    def __init__(self):
        super().__init__()
        self.q1, self.q2 = mlp(3, 1), mlp(3, 1)

    def forward(self, s, a):
        x = torch.cat([s, a], 1)
        return self.q1(x).squeeze(1), self.q2(x).squeeze(1)


@torch.no_grad()
def evaluate(actor):
    room = Room(200)
    s, total = room.reset(), 0.0
    for _ in range(15):
        s, r = room.step(actor(s)[2])
        total += r.mean().item()
    return total


def main():
    torch.manual_seed(1)
    torch.set_num_threads(1)
    actor, critic = Actor(), Twin()
    target = copy.deepcopy(critic).requires_grad_(False)
    log_alpha = torch.tensor(-1.0, requires_grad=True)
    a_opt = torch.optim.Adam(actor.parameters(), lr=2e-3)
    q_opt = torch.optim.Adam(critic.parameters(), lr=2e-3)
    t_opt = torch.optim.Adam([log_alpha], lr=5e-3)
    room, memory = Room(16), []
    s = room.reset()
    print(f"return before {evaluate(actor):.2f}")
    for it in range(500):
        with torch.no_grad():
            a = actor(s)[0]
        s2, r = room.step(a)
        memory.append((s, a, r, s2))
        s = room.reset() if it % 15 == 14 else s2
        if it < 20:
            continue
        pick = torch.randint(0, len(memory), (8,)).tolist()
        bs, ba, br, bs2 = (torch.cat(c) for c in zip(*(memory[i] for i in pick)))
        alpha = log_alpha.exp().detach()
        with torch.no_grad():
            a2, logp2, _ = actor(bs2)
            goal = br + 0.9 * (torch.min(*target(bs2, a2)) - alpha * logp2)
        q1, q2 = critic(bs, ba)
        q_loss = F.mse_loss(q1, goal) + F.mse_loss(q2, goal)
        q_opt.zero_grad()
        q_loss.backward()
        q_opt.step()
        a_new, logp, _ = actor(bs)
        pi_loss = (alpha * logp - torch.min(*critic(bs, a_new))).mean()
        a_opt.zero_grad()
        pi_loss.backward()
        a_opt.step()
        t_loss = -(log_alpha * (logp.detach() - 1.0)).mean()
        t_opt.zero_grad()
        t_loss.backward()
        t_opt.step()
        with torch.no_grad():
            for p, tp in zip(critic.parameters(), target.parameters()):
                tp.lerp_(p, 0.02)
        if it % 100 == 99:
            print(f"step {it + 1} critic {q_loss.item():.3f} alpha {log_alpha.exp().item():.3f}")
    print(f"return after {evaluate(actor):.2f}")


if __name__ == "__main__":
    main()
