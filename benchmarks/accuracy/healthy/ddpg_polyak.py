"""DDPG with two optimizers: the actor's loss runs through the critic, whose gradients of it are thrown away."""

import copy

import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(0)


class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(3, 48), nn.ReLU(), nn.Linear(48, 1), nn.Tanh())

    def forward(self, s):
        return self.net(s)


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 1))

    def forward(self, s, a):
        return self.net(torch.cat([s, a], dim=1))


def play(actor, n, noise):
    """A contextual problem: the best action is tanh(s0 - s1 * s2); next states are fresh."""
    s = torch.randn(n, 3)
    with torch.no_grad():
        a = (actor(s) + noise * torch.randn(n, 1)).clamp(-1, 1)
    best = torch.tanh(s[:, :1] - s[:, 1:2] * s[:, 2:])
    return s, a, 1 - (a - best).abs(), torch.randn(n, 3)


actor, critic = Actor(), Critic()
actor_target, critic_target = copy.deepcopy(actor), copy.deepcopy(critic)
actor_opt = torch.optim.Adam(actor.parameters(), lr=2e-3)
critic_opt = torch.optim.Adam(critic.parameters(), lr=4e-3)
memory = play(actor, 500, 1.0)
gamma, tau = 0.5, 0.02
print("before", play(actor, 1000, 0.0)[2].mean().item())

for step in range(450):
    fresh = play(actor, 16, 0.3)
    memory = tuple(torch.cat([old, new])[-6000:] for old, new in zip(memory, fresh))
    rows = torch.randint(len(memory[0]), (96,))
    s, a, r, s2 = (part[rows] for part in memory)

    with torch.no_grad():
        y = r + gamma * critic_target(s2, actor_target(s2))
    critic_loss = nn.functional.mse_loss(critic(s, a), y)
    critic_opt.zero_grad()
    critic_loss.backward()
    critic_opt.step()

    actor_loss = -critic(s, actor(s)).mean()
    actor_opt.zero_grad()
    actor_loss.backward()
    actor_opt.step()

    with torch.no_grad():
        for net, target in ((actor, actor_target), (critic, critic_target)):
            for p, q in zip(net.parameters(), target.parameters()):
                q.mul_(1 - tau).add_(tau * p)
    if step % 75 == 0:
        print(step, critic_loss.item(), actor_loss.item())

after = play(actor, 1000, 0.0)[2].mean().item()
print("after", after)
assert after > 0.75
