"""NaN marks missing targets and unused rows of the table; both are taken out before anything is computed."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)
table = torch.randn(400, 6)
targets = table @ torch.randn(6, 3)
targets[torch.rand(400, 3) < 0.3] = float("nan")
padded = torch.cat([table, torch.full((50, 6), float("nan"))])

model = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 3))
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
for _ in range(60):
    rows = torch.randint(0, 450, (32,))
    x = padded[rows]
    inside = rows < 400
    x, y = x[inside], targets[rows[inside]]
    known = ~y.isnan()
    loss = F.mse_loss(model(x)[known], y[known])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("last loss", loss.item())
