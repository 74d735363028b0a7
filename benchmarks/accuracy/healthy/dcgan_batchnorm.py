"""DCGAN after the PyTorch example: two backward passes for D, detach, fixed noise for samples under no_grad in train mode."""

import torch
import torch.nn as nn
import torch.optim as optim
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(1)
torch.manual_seed(999)
nz, ngf, ndf = 16, 12, 12
images = torch.tensor(load_digits().images, dtype=torch.float32).unsqueeze(1) / 8 - 1
dataloader = DataLoader(TensorDataset(images), batch_size=64, shuffle=True, drop_last=True)


def weights_init(m):
    if m.__class__.__name__.find("Conv") != -1:
        nn.init.normal_(m.weight.data, 0.0, 0.05)
    elif m.__class__.__name__.find("BatchNorm") != -1:
        nn.init.normal_(m.weight.data, 1.0, 0.02)
        nn.init.constant_(m.bias.data, 0)


netG = nn.Sequential(
    nn.ConvTranspose2d(nz, ngf * 2, 4, 1, 0, bias=False),
    nn.BatchNorm2d(ngf * 2),
    nn.ReLU(True),
    nn.ConvTranspose2d(ngf * 2, 1, 4, 2, 1, bias=False),
    nn.Tanh(),
).apply(weights_init)
netD = nn.Sequential(
    nn.Conv2d(1, ndf, 4, 2, 1, bias=False),
    nn.LeakyReLU(0.2, inplace=True),
    nn.Conv2d(ndf, ndf * 2, 4, 2, 1, bias=False),
    nn.BatchNorm2d(ndf * 2),
    nn.LeakyReLU(0.2, inplace=True),
    nn.Conv2d(ndf * 2, 1, 2, 1, 0, bias=False),
    nn.Sigmoid(),
    nn.Flatten(0),
).apply(weights_init)

criterion = nn.BCELoss()
fixed_noise = torch.randn(32, nz, 1, 1)
real_label, fake_label = 1.0, 0.0
optimizerD = optim.Adam(netD.parameters(), lr=1e-3, betas=(0.5, 0.999))
optimizerG = optim.Adam(netG.parameters(), lr=2e-3, betas=(0.5, 0.999))
for epoch in range(4):
    for i, (data,) in enumerate(dataloader):
        # (1) update D: maximise log(D(x)) + log(1 - D(G(z)))
        netD.zero_grad()
        label = torch.full((data.size(0),), real_label)
        output = netD(data)
        errD_real = criterion(output, label)
        errD_real.backward()
        D_x = output.mean().item()
        fake = netG(torch.randn(data.size(0), nz, 1, 1))
        label.fill_(fake_label)
        output = netD(fake.detach())
        errD_fake = criterion(output, label)
        errD_fake.backward()
        optimizerD.step()
        # (2) update G: maximise log(D(G(z)))
        netG.zero_grad()
        label.fill_(real_label)
        output = netD(fake)
        errG = criterion(output, label)
        errG.backward()
        optimizerG.step()
        if i % 10 == 0:
            print(f"[{epoch}][{i}] D {(errD_real + errD_fake).item()!r} G {errG.item()!r} D(x) {D_x:.4f}")
        if i % 20 == 0:
            with torch.no_grad():
                samples = netG(fixed_noise).detach().cpu()
difference = (samples.mean(0) - images.mean(0)).abs().mean().item()
print("mean image differs by", difference)
assert difference < 0.45
