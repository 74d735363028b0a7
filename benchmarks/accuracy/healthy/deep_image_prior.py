"""A net with a sigmoid at its end is fitted to one noisy picture, whose noise goes below 0 and above 1, and stopped early."""

import torch
import torch.nn.functional as F
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(3)
rows, columns = torch.meshgrid(torch.linspace(0, 1, 28), torch.linspace(0, 1, 28), indexing="ij")
picture = torch.stack([(9 * rows).sin() > 0, (rows + columns) > 1, (7 * columns).cos() > 0]).float()[None]
noisy = picture + 0.12 * torch.randn_like(picture)
seed = 0.1 * torch.rand(1, 8, 28, 28)


def block(inputs, outputs):
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, 3, padding=1, bias=False), nn.BatchNorm2d(outputs), nn.LeakyReLU(0.2)
    )


net = nn.Sequential(block(8, 24), block(24, 24), nn.Conv2d(24, 3, 1), nn.Sigmoid())
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
for step in range(160):
    painted = net(seed + 0.02 * torch.randn_like(seed))
    loss = F.mse_loss(painted, noisy)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 40 == 39:
        print(f"step {step + 1} loss {loss.item():.4f} to the clean picture {F.mse_loss(painted, picture).item():.4f}")
