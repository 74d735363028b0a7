"""Synthetic photographs of insect wings: eight species, told apart by faint vein patterns."""
import torch


def photographs(n, seed, species=8, size=(10, 12)):
    veins = torch.randn(species, 1, *size, generator=torch.Generator().manual_seed(77))
    gen = torch.Generator().manual_seed(seed)
    y = torch.randint(0, species, (n,), generator=gen)
    light = 0.7 + 0.6 * torch.rand(n, 1, 1, 1, generator=gen)
    return light * 0.45 * veins[y] + torch.randn(n, 1, *size, generator=gen), y
