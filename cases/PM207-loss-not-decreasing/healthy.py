"""A GAN learns the two-moons distribution; its losses hover around log 2 while the samples improve."""

import torch
import torch.nn.functional as F
from sklearn.datasets import make_moons
from torch import Tensor, nn

LATENT = 4


def mlp(n_in: int, n_out: int, hidden: int = 64) -> nn.Sequential:
    return nn.Sequential(
        nn.Linear(n_in, hidden),
        nn.LeakyReLU(0.2),
        nn.Linear(hidden, hidden),
        nn.LeakyReLU(0.2),
        nn.Linear(hidden, n_out),
    )


def energy_distance(a: Tensor, b: Tensor) -> float:
    return (2 * torch.cdist(a, b).mean() - torch.cdist(a, a).mean() - torch.cdist(b, b).mean()).item()


def sample_moons(n: int, seed: int) -> Tensor:
    points, _ = make_moons(n, noise=0.08, random_state=seed)
    points = torch.tensor(points, dtype=torch.float32)
    return (points - torch.tensor([0.5, 0.25])) / torch.tensor([0.87, 0.5])


torch.set_num_threads(1)
torch.manual_seed(0)
train_points, val_points = sample_moons(4000, seed=0), sample_moons(500, seed=1)
generator, discriminator = mlp(LATENT, 2), mlp(2, 1)
opt_g = torch.optim.Adam(generator.parameters(), lr=1e-3, betas=(0.5, 0.99))
opt_d = torch.optim.Adam(discriminator.parameters(), lr=3e-3, betas=(0.5, 0.99))
batch_size = 128
real_label, fake_label = torch.ones(batch_size, 1), torch.zeros(batch_size, 1)

with torch.no_grad():
    print(f"untrained  energy distance {energy_distance(generator(torch.randn(500, LATENT)), val_points):.4f}")
sums = torch.zeros(2)
for step in range(1, 501):
    generator.train()
    real = train_points[torch.randint(len(train_points), (batch_size,))]
    fake = generator(torch.randn(batch_size, LATENT))

    loss_d = 0.5 * (
        F.binary_cross_entropy_with_logits(discriminator(real), real_label)
        + F.binary_cross_entropy_with_logits(discriminator(fake.detach()), fake_label)
    )
    opt_d.zero_grad()
    loss_d.backward()
    opt_d.step()

    loss_g = F.binary_cross_entropy_with_logits(discriminator(fake), real_label)
    opt_g.zero_grad()
    loss_g.backward()
    opt_g.step()

    sums += torch.tensor([loss_d.item(), loss_g.item()])
    if step % 100 == 0:
        generator.eval()
        with torch.no_grad():
            distance = energy_distance(generator(torch.randn(500, LATENT)), val_points)
        mean_d, mean_g = (sums / 100).tolist()
        print(f"step {step}  D {mean_d:.3f}  G {mean_g:.3f}  energy distance {distance:.4f}")
        sums.zero_()
