"""Stochastic actor trained through a known reward model."""
import torch
import torch.nn as nn
from torch.distributions import Normal

torch.manual_seed(0)


class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(3, 32), nn.ReLU())
        self.mu, self.log_std = nn.Linear(32, 2), nn.Linear(32, 2)

    def forward(self, s):
        h = self.trunk(s)
        return Normal(self.mu(h), self.log_std(h).clamp(-3, 0).exp())


class QModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(5, 48), nn.ReLU(), nn.Linear(48, 1))

    def forward(self, s, a):
        return self.net(torch.cat([s, a], -1))


actor, critic = Actor(), QModel()
opt_actor = torch.optim.Adam(actor.parameters(), lr=2e-3)
opt_critic = torch.optim.Adam(critic.parameters(), lr=3e-3)
for step in range(400):
    s = torch.randn(64, 3)
    with torch.no_grad():
        a = actor(s).sample()
    r = -((a - s[:, :2]) ** 2).sum(1, keepdim=True)
    closs = nn.functional.mse_loss(critic(s, a), r)
    opt_critic.zero_grad()
    closs.backward()
    opt_critic.step()
    dist = actor(s)
    action = dist.rsample()
    aloss = -critic(s, action).mean()
    opt_actor.zero_grad()
    aloss.backward()
    opt_actor.step()
    if step % 80 == 0:
        print(step, closs.item(), r.mean().item())
