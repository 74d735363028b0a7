"""A Wasserstein GAN with gradient penalty: five critic steps per generator step, two optimizers, double backward."""
import torch
from torch import nn


def ring(n):
    a = 6.2832 * torch.rand(n)
    return 1.5 * torch.stack([a.cos(), a.sin()], 1) + 0.1 * torch.randn(n, 2)


def mlp(i, o, width=48):
    return nn.Sequential(nn.Linear(i, width), nn.LeakyReLU(0.2), nn.Linear(width, width), nn.LeakyReLU(0.2), nn.Linear(width, o))


def penalty(critic, real, fake):
    mix = torch.rand(len(real), 1)
    point = (mix * real + (1 - mix) * fake).requires_grad_()
    (g,) = torch.autograd.grad(critic(point).sum(), point, create_graph=True)
    return (g.norm(dim=1) - 1).pow(2).mean()


def energy_distance(a, b):
    return (2 * torch.cdist(a, b).mean() - torch.cdist(a, a).mean() - torch.cdist(b, b).mean()).item()


class WGAN:
    def __init__(self, latent=4):
        self.latent = latent
        self.gen, self.critic = mlp(latent, 2), mlp(2, 1)
        self.g_opt = torch.optim.Adam(self.gen.parameters(), lr=4e-4, betas=(0.0, 0.9))
        self.c_opt = torch.optim.Adam(self.critic.parameters(), lr=1e-3, betas=(0.0, 0.9))

    def sample(self, n):
        return self.gen(torch.randn(n, self.latent))

    def critic_step(self, n=96):
        real, fake = ring(n), self.sample(n).detach()
        loss = self.critic(fake).mean() - self.critic(real).mean() + 10 * penalty(self.critic, real, fake)
        self.c_opt.zero_grad()
        loss.backward()
        self.c_opt.step()
        return loss.item()

    def generator_step(self, n=96):
        loss = -self.critic(self.sample(n)).mean()
        self.g_opt.zero_grad()
        loss.backward()
        self.g_opt.step()

    @torch.no_grad()
    def score(self):
        return energy_distance(self.sample(800), ring(800))


torch.manual_seed(0)
torch.set_num_threads(1)
gan = WGAN()
print(f"energy distance before {gan.score():.4f}")
for step in range(240):
    for _ in range(4):
        c = gan.critic_step()
    gan.generator_step()
    if step % 60 == 59:
        print(f"step {step + 1} critic loss {c:.3f} energy distance {gan.score():.4f}")
