"""Two networks, two optimizers, one fooling the other."""

import torch
import torch.nn.functional as F
from fingerprint import bits, finish
from torch import nn

torch.manual_seed(0)
generator = nn.Sequential(nn.Linear(4, 16), nn.LeakyReLU(0.2), nn.Linear(16, 2))
critic = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Dropout(0.1), nn.Linear(16, 1))
g_optimizer = torch.optim.Adam(generator.parameters(), lr=2e-3, betas=(0.5, 0.999))
c_optimizer = torch.optim.Adam(critic.parameters(), lr=2e-3, betas=(0.5, 0.999))
ones, zeros = torch.ones(32, 1), torch.zeros(32, 1)
for _step in range(40):
    real = torch.randn(32, 2) * 0.5 + torch.tensor([1.0, -1.0])
    fake = generator(torch.randn(32, 4))
    c_loss = F.binary_cross_entropy_with_logits(critic(real), ones)
    c_loss = c_loss + F.binary_cross_entropy_with_logits(critic(fake.detach()), zeros)
    c_optimizer.zero_grad()
    c_loss.backward()
    c_optimizer.step()
    g_loss = F.binary_cross_entropy_with_logits(critic(fake), ones)
    g_optimizer.zero_grad()
    g_loss.backward()
    g_optimizer.step()
    bits(c_loss)
    bits(g_loss)
finish(generator, critic)
