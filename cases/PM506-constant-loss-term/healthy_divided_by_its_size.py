"""Two regressions of very different size, trained together: one divided by its own size, and a third that waits for its turn."""

import torch
from torch import nn
from torch.nn import functional as F

torch.set_num_threads(1)
torch.manual_seed(0)
x = torch.randn(512, 8)
price = 3 + x[:, :4].sum(1)
age = x[:, 4:].sum(1)
trunk = nn.Sequential(nn.Linear(8, 32), nn.ReLU())
heads = nn.ModuleList([nn.Linear(32, 1), nn.Linear(32, 1)])
optimizer = torch.optim.Adam([*trunk.parameters(), *heads.parameters()], lr=1e-2)
for step in range(60):
    rows = torch.randint(512, (64,))
    hidden = trunk(x[rows])
    dear = F.smooth_l1_loss(heads[0](hidden).squeeze(1), price[rows])
    old = F.mse_loss(heads[1](hidden).squeeze(1), age[rows])
    loss = old + 0.5 * dear / dear.detach() + max(0.0, step / 60 - 0.8) * F.l1_loss(hidden, hidden.flip(0))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"price off by {dear.item():.2f}, age error {old.item():.3f}")
