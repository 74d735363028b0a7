"""WGAN with gradient penalty, five critic steps for one of the generator; losses are negative and mean little."""

import argparse

import torch
import torch.autograd as autograd
from torch import nn


def net(*sizes):
    layers = []
    for a, b in zip(sizes[:-1], sizes[1:]):
        layers += [nn.Linear(a, b), nn.ReLU(inplace=True)]
    return nn.Sequential(*layers[:-1])


def spiral(n):
    t = 3 * torch.rand(n).sqrt()
    return torch.stack([t * torch.cos(2 * t), t * torch.sin(2 * t)], 1) / 2 + 0.03 * torch.randn(n, 2)


def gradient_penalty(critic, real, fake, weight):
    alpha = torch.rand(real.size(0), 1)
    mixed = (alpha * real + (1 - alpha) * fake).requires_grad_(True)
    score = critic(mixed)
    gradients = autograd.grad(score, mixed, grad_outputs=torch.ones_like(score), create_graph=True, retain_graph=True)[
        0
    ]
    return weight * ((gradients.norm(2, dim=1) - 1) ** 2).mean()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--iterations", type=int, default=130)
    parser.add_argument("--n-critic", type=int, default=5)
    parser.add_argument("--batch", type=int, default=96)
    opt = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    generator, critic = net(4, 64, 64, 2), net(2, 64, 64, 1)
    optimizer_g = torch.optim.Adam(generator.parameters(), lr=1e-3, betas=(0.5, 0.9))
    optimizer_c = torch.optim.Adam(critic.parameters(), lr=1e-3, betas=(0.5, 0.9))

    def quality():
        with torch.no_grad():
            distance = torch.cdist(generator(torch.randn(500, 4)), spiral(2000)).min(1).values
        return distance.mean().item()

    print("before", quality())
    for iteration in range(opt.iterations):
        for p in critic.parameters():
            p.requires_grad_(True)
        for _ in range(opt.n_critic):
            real = spiral(opt.batch)
            fake = generator(torch.randn(opt.batch, 4)).detach()
            optimizer_c.zero_grad()
            wasserstein = critic(real).mean() - critic(fake).mean()
            loss_c = -wasserstein + gradient_penalty(critic, real, fake, 1.0)
            loss_c.backward()
            optimizer_c.step()
        for p in critic.parameters():
            p.requires_grad_(False)
        optimizer_g.zero_grad()
        loss_g = -critic(generator(torch.randn(opt.batch, 4))).mean()
        loss_g.backward()
        optimizer_g.step()
        if iteration % 25 == 0:
            print(iteration, loss_c.item(), loss_g.item(), wasserstein.item())
    print("after", quality())
    assert quality() < 0.2


if __name__ == "__main__":
    main()
