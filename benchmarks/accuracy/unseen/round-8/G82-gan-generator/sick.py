"""GAN for a bent two-dimensional distribution."""
import argparse

import torch
from torch import nn

bce = nn.BCEWithLogitsLoss()


def real_data(n, gen=None):
    a = torch.randn(n, generator=gen)
    b = torch.randn(n, generator=gen)
    x = torch.stack([a, 0.6 * a ** 2 - 0.6 + 0.3 * b], dim=1)
    return x


class Generator(nn.Module):
    def __init__(self, z=4, h=48):
        super().__init__()
        self.z = z
        self.net = nn.Sequential(
            nn.Linear(z, h), nn.LeakyReLU(0.2), nn.Linear(h, h), nn.LeakyReLU(0.2), nn.Linear(h, 2))

    def sample(self, n):
        return self.net(torch.randn(n, self.z))


class Discriminator(nn.Module):
    def __init__(self, h=48):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(2, h), nn.LeakyReLU(0.2), nn.Linear(h, h), nn.LeakyReLU(0.2), nn.Linear(h, 1))

    def forward(self, x):
        return self.net(x)


def energy_distance(x, y):
    xy = torch.cdist(x, y).mean()
    return (2 * xy - torch.cdist(x, x).mean() - torch.cdist(y, y).mean()).item()


def train_step(G, D, opt_g, opt_d, real):
    n = len(real)
    ones, zeros = torch.ones(n, 1), torch.zeros(n, 1)
    fake = G.sample(n).detach()

    opt_d.zero_grad()
    d_loss = bce(D(real), ones) + bce(D(fake), zeros)
    d_loss.backward()
    opt_d.step()

    opt_g.zero_grad()
    g_loss = bce(D(fake), ones)
    g_loss.backward()
    opt_g.step()
    return d_loss.item(), g_loss.item()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--steps", type=int, default=1200)
    ap.add_argument("--batch", type=int, default=128)
    ap.add_argument("--lr", type=float, default=1e-3)
    args = ap.parse_args()
    torch.manual_seed(19)
    data = real_data(5000, torch.Generator().manual_seed(1))
    held_out = real_data(800, torch.Generator().manual_seed(2))
    G, D = Generator(), Discriminator()
    opt_g = torch.optim.Adam(G.parameters(), lr=args.lr, betas=(0.5, 0.99))
    opt_d = torch.optim.Adam(D.parameters(), lr=args.lr, betas=(0.5, 0.99))
    d_sum = g_sum = 0.0
    for step in range(1, args.steps + 1):
        real = data[torch.randint(len(data), (args.batch,))]
        d, g = train_step(G, D, opt_g, opt_d, real)
        d_sum, g_sum = d_sum + d, g_sum + g
        if step % 200 == 0:
            with torch.no_grad():
                dist = energy_distance(G.sample(800), held_out)
            print(f"step {step} D {d_sum / 200:.3f} G {g_sum / 200:.3f} energy distance {dist:.4f}")
            d_sum = g_sum = 0.0


if __name__ == "__main__":
    main()
