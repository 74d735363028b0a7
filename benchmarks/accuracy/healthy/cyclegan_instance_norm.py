"""A toy CycleGAN with batch size 1, instance norm, a replay buffer, chained optimizers and LambdaLR decay."""

import itertools
import random

import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(0)
random.seed(0)


def stroke(kind):
    """Domain A: bright bars on dark. Domain B: the same bars, inverted and dimmed."""
    image = -torch.ones(1, 1, 12, 12)
    i = random.randrange(2, 10)
    (image[..., i, :] if random.random() < 0.5 else image[..., :, i]).fill_(1.0)
    image = (image + 0.05 * torch.randn_like(image)).clamp(-1, 1)
    return image if kind == "A" else -0.7 * image


def generator():
    return nn.Sequential(
        nn.Conv2d(1, 12, 3, padding=1),
        nn.InstanceNorm2d(12, affine=True),
        nn.ReLU(),
        nn.Conv2d(12, 12, 3, padding=1),
        nn.InstanceNorm2d(12),
        nn.ReLU(),
        nn.Conv2d(12, 1, 3, padding=1),
        nn.Tanh(),
    )


def discriminator():
    return nn.Sequential(
        nn.Conv2d(1, 12, 3, stride=2, padding=1),
        nn.LeakyReLU(0.2),
        nn.Conv2d(12, 16, 3, stride=2, padding=1),
        nn.InstanceNorm2d(16),
        nn.LeakyReLU(0.2),
        nn.Conv2d(16, 1, 3, padding=1),
    )


class ReplayBuffer:
    def __init__(self, size=20):
        self.size, self.data = size, []

    def push_and_pop(self, sample):
        sample = sample.detach()
        if len(self.data) < self.size:
            self.data.append(sample)
            return sample
        if random.random() < 0.5:
            i = random.randrange(self.size)
            sample, self.data[i] = self.data[i].clone(), sample
        return sample


def set_requires_grad(nets, value):
    for net in nets:
        for p in net.parameters():
            p.requires_grad = value


G_AB, G_BA, D_A, D_B = generator(), generator(), discriminator(), discriminator()
gan, cycle, identity = nn.MSELoss(), nn.L1Loss(), nn.L1Loss()
opt_G = torch.optim.Adam(itertools.chain(G_AB.parameters(), G_BA.parameters()), lr=2e-3, betas=(0.5, 0.999))
opt_D = torch.optim.Adam(itertools.chain(D_A.parameters(), D_B.parameters()), lr=1e-3, betas=(0.5, 0.999))
epochs, per_epoch = 5, 50
decay = lambda epoch: 1.0 - max(0, epoch - 2) / (epochs - 2 + 1)
schedulers = [torch.optim.lr_scheduler.LambdaLR(o, lr_lambda=decay) for o in (opt_G, opt_D)]
buffer_A, buffer_B = ReplayBuffer(), ReplayBuffer()

for epoch in range(epochs):
    for _ in range(per_epoch):
        A, B = stroke("A"), stroke("B")
        set_requires_grad([D_A, D_B], False)
        opt_G.zero_grad()
        fake_B, fake_A = G_AB(A), G_BA(B)
        score_B, score_A = D_B(fake_B), D_A(fake_A)
        loss_G = gan(score_B, torch.ones_like(score_B)) + gan(score_A, torch.ones_like(score_A))
        loss_G = loss_G + 10 * (cycle(G_BA(fake_B), A) + cycle(G_AB(fake_A), B))
        loss_G.backward()
        opt_G.step()

        set_requires_grad([D_A, D_B], True)
        opt_D.zero_grad()
        loss_D = 0
        for D, real, fake in ((D_A, A, buffer_A.push_and_pop(fake_A)), (D_B, B, buffer_B.push_and_pop(fake_B))):
            yes, no = D(real), D(fake)
            loss_D = loss_D + 0.5 * (gan(yes, torch.ones_like(yes)) + gan(no, torch.zeros_like(no)))
        loss_D.backward()
        opt_D.step()
    for scheduler in schedulers:
        scheduler.step()
    print(epoch, loss_G.item(), loss_D.item(), [s.get_last_lr()[0] for s in schedulers])

with torch.no_grad():
    A = stroke("A")
    error = cycle(G_BA(G_AB(A)), A).item()
print("cycle error", error)
assert error < 0.35
