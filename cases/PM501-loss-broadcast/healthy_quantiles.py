"""Quantiles of a return: every prediction is compared with every target of its sample, on purpose."""

import torch
from torch import nn

torch.manual_seed(0)
N = 16
net, target_net = nn.Linear(6, N), nn.Linear(6, N)
taus = (torch.arange(N) + 0.5) / N
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
for step in range(60):
    state, following, reward = torch.randn(N, 6), torch.randn(N, 6), torch.randn(N)
    with torch.no_grad():
        later = target_net(following)
        goal = reward[:, None] + 0.9 * later
        weights = later.mean(1, keepdim=True) * reward  # a table of all pairs, only looked at
    gap = goal[:, None, :] - net(state)[:, :, None]
    loss = ((taus[None, :, None] - (gap.detach() < 0).float()).abs() * gap.abs()).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 19:
        print(step, loss.item(), weights.abs().max().item())
        target_net.load_state_dict(net.state_dict())
