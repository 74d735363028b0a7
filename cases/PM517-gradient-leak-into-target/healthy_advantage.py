"""Actor and critic with separate passes, a learnt temperature, a sampled action whose value is not differentiated."""

import torch
import torch.nn as nn
from torch.distributions import Categorical, Normal

torch.manual_seed(0)
M = 5
actor = nn.Sequential(nn.Linear(M * 2, 48), nn.ReLU(), nn.Linear(48, M))
critic = nn.Sequential(nn.Linear(M * 2, 48), nn.ReLU(), nn.Linear(48, 1))
log_alpha = torch.zeros(1, requires_grad=True)
opt_a = torch.optim.Adam(actor.parameters(), lr=3e-3)
opt_c = torch.optim.Adam(critic.parameters(), lr=3e-3)
opt_t = torch.optim.Adam([log_alpha], lr=1e-3)
for it in range(250):
    pts = torch.rand(64, M, 2)
    flat = pts.flatten(1)
    dist = Categorical(logits=actor(flat))
    act = dist.sample()
    cost = pts[torch.arange(64), act].norm(dim=1)
    v = critic(flat).squeeze(1)
    adv = cost - v  # its graph reaches the critic, whose gradient is cleared below
    actor_loss = (adv * dist.log_prob(act)).mean() - 0.01 * log_alpha.exp().detach() * dist.entropy().mean()
    opt_a.zero_grad()
    actor_loss.backward(retain_graph=True)
    opt_a.step()
    opt_c.zero_grad()
    critic_loss = (cost - critic(flat).squeeze(1)).pow(2).mean()
    critic_loss.backward()
    opt_c.step()
    with torch.no_grad():
        entropy = Categorical(logits=actor(flat)).entropy()
    t_loss = (log_alpha.exp() * (entropy - 0.5)).mean()
    opt_t.zero_grad()
    t_loss.backward()
    opt_t.step()
    if it % 50 == 0:
        print(it, cost.mean().item(), critic_loss.item())
# A Gaussian policy with a baseline that has the right shape.
mu = nn.Linear(3, 2)
base = nn.Linear(3, 1)
opt = torch.optim.Adam([*mu.parameters(), *base.parameters()], lr=1e-2)
for it in range(150):
    s = torch.randn(64, 3)
    d = Normal(mu(s), 0.3)
    a = d.sample()
    r = -((a - s[:, :2]) ** 2).sum(1, keepdim=True)
    adv = r - base(s).detach()
    adv = (adv - adv.mean()) / (adv.std() + 1e-6)
    loss = -(adv * d.log_prob(a).sum(1, keepdim=True)).mean() + (r - base(s)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
