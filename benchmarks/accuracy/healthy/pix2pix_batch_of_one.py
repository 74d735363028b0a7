"""pix2pix as published: batch size 1, where BatchNorm normalises each image by itself; and a skipped last batch of one."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(1)
torch.manual_seed(0)


def pairs(n):
    a = F.avg_pool2d(torch.randn(n, 1, 18, 18), 3, 1).sign()
    return a, -0.8 * a.transpose(2, 3)  # flipped along the diagonal and inverted


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1),
            nn.BatchNorm2d(16),
            nn.ReLU(),
            nn.Conv2d(16, 16, 3, padding=1),
            nn.BatchNorm2d(16),
            nn.ReLU(),
            nn.Conv2d(16, 1, 3, padding=1),
            nn.Tanh(),
        )

    def forward(self, x):
        return self.net(x).transpose(2, 3)


generator = Generator()
discriminator = nn.Sequential(nn.Conv2d(2, 8, 4, 2), nn.LeakyReLU(0.2), nn.Conv2d(8, 1, 3))
bce = nn.BCEWithLogitsLoss()
opt_g = torch.optim.Adam(generator.parameters(), lr=2e-3, betas=(0.5, 0.999))
opt_d = torch.optim.Adam(discriminator.parameters(), lr=5e-4, betas=(0.5, 0.999))
loader = DataLoader(TensorDataset(*pairs(100)), batch_size=1, shuffle=True)
for epoch in range(2):
    for a, b in loader:
        fake = generator(a)
        real_score = discriminator(torch.cat([a, b], 1))
        fake_score = discriminator(torch.cat([a, fake.detach()], 1))
        loss_d = 0.5 * (bce(real_score, torch.ones_like(real_score)) + bce(fake_score, torch.zeros_like(fake_score)))
        opt_d.zero_grad()
        loss_d.backward()
        opt_d.step()
        fake_score = discriminator(torch.cat([a, fake], 1))
        loss_g = bce(fake_score, torch.ones_like(fake_score)) + 20 * F.l1_loss(fake, b)
        opt_g.zero_grad()
        loss_g.backward()
        opt_g.step()
    print("pix2pix", epoch, loss_d.item(), loss_g.item())
a, b = pairs(20)
with torch.no_grad():
    error = torch.stack([F.l1_loss(generator(a[i : i + 1]), b[i : i + 1]) for i in range(20)]).mean().item()
print("error", error)

# BatchNorm1d and 961 samples: the batch of one is skipped
x = torch.randn(961, 10)
y = (x[:, 0] > x[:, 1]).long()
net = nn.Sequential(nn.Linear(10, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
for epoch in range(2):
    for xb, yb in DataLoader(TensorDataset(x, y), batch_size=40, shuffle=True):
        if len(xb) < 2:
            continue
        optimizer.zero_grad()
        loss = F.cross_entropy(net(xb), yb)
        loss.backward()
        optimizer.step()
print("tabular", loss.item())
assert error < 0.2 and loss < 0.4
