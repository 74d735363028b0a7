"""DDPG-like pair on a one-dimensional reaching task."""
import random

import torch
from torch import nn


class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 1), nn.Tanh())

    def forward(self, s):
        return self.net(s)


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, s, a):
        return self.net(torch.cat([s, a], 1))


class Learner:
    def __init__(self, max_norm=0.5):
        self.actor, self.critic = Actor(), Critic()
        self.actor_opt = torch.optim.Adam(self.actor.parameters(), lr=1e-3)
        self.critic_opt = torch.optim.Adam(self.critic.parameters(), lr=2e-3)
        self.max_norm = max_norm

    def update(self, s, a, r):
        critic_loss = nn.functional.mse_loss(self.critic(s, a), r)
        self.critic_opt.zero_grad()
        critic_loss.backward()
        nn.utils.clip_grad_norm_(self.critic.parameters(), self.max_norm)
        self.critic_opt.step()

        actor_loss = -self.critic(s, self.actor(s)).mean()
        self.actor_opt.zero_grad()
        actor_loss.backward()
        nn.utils.clip_grad_norm_(self.actor.parameters(), self.max_norm)
        self.actor_opt.step()
        return critic_loss.item(), actor_loss.item()


def main():
    random.seed(0)
    torch.manual_seed(0)
    learner = Learner()
    for step in range(300):
        s = torch.rand(64, 2) * 2 - 1
        with torch.no_grad():
            a = (learner.actor(s) + 0.3 * torch.randn(64, 1)).clamp(-1, 1)
        r = -(s[:, :1] + a - s[:, 1:]).pow(2) * 10
        losses = learner.update(s, a, r)
        if step % 60 == 0:
            print(step, "critic %.3f actor %.3f" % losses)


main()
