"""Two networks against each other, on points of a ring."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
generator = nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 2))
critic = nn.Sequential(nn.Linear(2, 64), nn.LeakyReLU(0.2), nn.Linear(64, 1))
of_generator = torch.optim.Adam(generator.parameters(), lr=1e-3, betas=(0.5, 0.9))
of_critic = torch.optim.Adam(critic.parameters(), lr=1e-3, betas=(0.5, 0.9))
for step in range(300):
    angle = 6.28 * torch.rand(64, 1)
    real = torch.cat([angle.cos(), angle.sin()], 1) + 0.05 * torch.randn(64, 2)
    fake = generator(torch.randn(64, 4))
    loss = F.binary_cross_entropy_with_logits(critic(real), torch.ones(64, 1))
    loss = loss + F.binary_cross_entropy_with_logits(critic(fake.detach()), torch.zeros(64, 1))
    of_critic.zero_grad()
    loss.backward()
    of_critic.step()
    loss = F.binary_cross_entropy_with_logits(critic(fake), torch.ones(64, 1))
    of_generator.zero_grad()
    loss.backward()
    of_generator.step()
    if step % 50 == 0:
        print(step, loss.item())
