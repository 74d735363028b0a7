"""Advantage actor-critic on a contextual bandit."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Categorical

torch.manual_seed(0)
STATES, ACTIONS = 6, 4
best = torch.randint(0, ACTIONS, (STATES,))


class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(STATES, 32), nn.Tanh())
        self.policy = nn.Linear(32, ACTIONS)
        self.value = nn.Linear(32, 1)

    def forward(self, x):
        h = self.body(x)
        return self.policy(h), self.value(h)


net = ActorCritic()
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
for it in range(250):
    s = torch.randint(0, STATES, (64,))
    logits, value = net(F.one_hot(s, STATES).float())
    dist = Categorical(logits=logits)
    a = dist.sample()
    vals_ref = (a == best[s]).float() + 0.1 * torch.randn(64)
    loss_value = F.mse_loss(value.squeeze(-1), vals_ref)
    adv = vals_ref - value.squeeze(-1).detach()
    loss_policy = -(adv * dist.log_prob(a)).mean()
    loss = loss_policy + 0.5 * loss_value - 0.01 * dist.entropy().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if it % 50 == 0:
        print(it, vals_ref.mean().item(), loss.item())
