"""A GAN on points of a ring; only the generator's gradients are cleared."""

import math

import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(0)
generator = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2))
critic = nn.Sequential(nn.Linear(2, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1))
optimizer_g = torch.optim.Adam(generator.parameters(), lr=1e-3, betas=(0.5, 0.99))
optimizer_c = torch.optim.Adam(critic.parameters(), lr=1e-3, betas=(0.5, 0.99))
judge = nn.BCEWithLogitsLoss()
ones, zeros = torch.ones(64, 1), torch.zeros(64, 1)

for step in range(1, 201):
    angle = 2 * math.pi * torch.rand(64)
    real = torch.stack([angle.cos(), angle.sin()], dim=1)
    fake = generator(torch.randn(64, 4))
    loss_c = judge(critic(real), ones) + judge(critic(fake.detach()), zeros)
    loss_c.backward()  # <- PM601
    optimizer_c.step()

    answers = critic(fake)
    loss_g = judge(answers, ones)
    optimizer_g.zero_grad()
    loss_g.backward()
    optimizer_g.step()
    if step % 50 == 0:
        print(f"step {step}: critic {loss_c.item():.3f}  generator {loss_g.item():.3f}")
