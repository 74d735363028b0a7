"""Distributional value learning: quantile Huber loss, every predicted quantile against every target quantile."""

import copy
import warnings

import torch
import torch.nn as nn
import torch.nn.functional as F

warnings.filterwarnings("ignore", message="Using a target size")
torch.set_num_threads(1)
torch.manual_seed(0)
QUANTILES, STATES, GAMMA = 16, 6, 0.9
taus = (torch.arange(QUANTILES) + 0.5) / QUANTILES


class QuantileNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(STATES, 64), nn.ReLU(), nn.Linear(64, QUANTILES))

    def forward(self, state):
        return self.net(F.one_hot(state, STATES).float())


def walk(n):
    """A chain: reward of the last state is 1 or 5 with equal chance, others 0; the end is absorbing."""
    state = torch.randint(STATES, (n,))
    last = state == STATES - 1
    reward = torch.where(last, 1 + 4 * torch.bernoulli(torch.full((n,), 0.5)), torch.zeros(n))
    return state, reward, (state + 1).clamp(max=STATES - 1), last.float()


def quantile_huber(prediction, target):
    """prediction (B, Q), target (B, Q): all pairs, (B, Q, Q)."""
    huber = F.smooth_l1_loss(prediction.unsqueeze(2), target.unsqueeze(1), reduction="none")
    below = (target.unsqueeze(1) < prediction.detach().unsqueeze(2)).float()
    return ((taus[None, :, None] - below).abs() * huber).sum(1).mean()


net = QuantileNet()
target_net = copy.deepcopy(net).requires_grad_(False)
optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)
for step in range(600):
    state, reward, following, done = walk(64)
    with torch.no_grad():
        target = reward[:, None] + GAMMA * (1 - done[:, None]) * target_net(following)
    loss = quantile_huber(net(state), target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    for p, q in zip(net.parameters(), target_net.parameters()):
        q.lerp_(p.detach(), 0.05)
    if step % 100 == 0:
        print(step, loss.item())
with torch.no_grad():
    values = net(torch.arange(STATES))
print(values.mean(1))
print("spread of the last state", values[-1].std().item())
assert abs(values[-1].mean() - 3) < 0.5 and values[-1].std() > 1
