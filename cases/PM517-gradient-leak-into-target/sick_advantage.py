"""Actor-critic for a small route problem; the advantage keeps its graph."""

import torch
import torch.nn as nn
from torch.distributions import Categorical

torch.manual_seed(0)
M = 5
actor = nn.Sequential(nn.Linear(M * 2, 48), nn.ReLU(), nn.Linear(48, M))
critic = nn.Sequential(nn.Linear(M * 2, 48), nn.ReLU(), nn.Linear(48, 1))
opt_actor = torch.optim.Adam(actor.parameters(), lr=3e-3)
opt_critic = torch.optim.Adam(critic.parameters(), lr=3e-3)
for it in range(250):
    pts = torch.rand(64, M, 2)
    flat = pts.flatten(1)
    dist = Categorical(logits=actor(flat))
    a = dist.sample()
    cost = pts[torch.arange(64), a].norm(dim=1)
    v = critic(flat).squeeze(1)
    adv = cost - v
    actor_loss = (adv * dist.log_prob(a)).mean()  # <- PM517
    critic_loss = (cost - v).pow(2).mean()
    opt_actor.zero_grad()
    opt_critic.zero_grad()
    (actor_loss + critic_loss).backward()
    opt_actor.step()
    opt_critic.step()
    if it % 50 == 0:
        print(it, cost.mean().item(), critic_loss.item())
