"""Small ResNet-like classifier on synthetic textures, trainer class."""
import torch
import torch.nn as nn
from torch.optim.lr_scheduler import CosineAnnealingLR
from torch.utils.data import DataLoader, Dataset


class Stripes(Dataset):
    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        self.angle = torch.randint(0, 4, (n,), generator=g)
        grid = torch.linspace(0, 6.28, 10)
        yy, xx = torch.meshgrid(grid, grid, indexing="ij")
        theta = self.angle.float() * 3.1416 / 4
        phase = torch.rand(n, generator=g) * 6.28
        wave = torch.sin(2 * (xx * theta.cos().view(-1, 1, 1) + yy * theta.sin().view(-1, 1, 1)) + phase.view(-1, 1, 1))
        self.images = (wave + 0.6 * torch.randn(n, 10, 10, generator=g)).unsqueeze(1)

    def __len__(self):
        return len(self.angle)

    def __getitem__(self, i):
        return self.images[i], self.angle[i]


class Block(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(c, c, 3, padding=1, bias=False), nn.BatchNorm2d(c), nn.ReLU(), nn.Conv2d(c, c, 3, padding=1, bias=False), nn.BatchNorm2d(c))

    def forward(self, x):
        return torch.relu(x + self.body(x))


class Trainer:
    def __init__(self, epochs=20):
        torch.manual_seed(5)
        self.epochs = epochs
        self.train_loader = DataLoader(Stripes(640, 0), batch_size=32, shuffle=True)
        self.val_loader = DataLoader(Stripes(200, 1), batch_size=100)
        self.net = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), Block(8), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 4))
        self.opt = torch.optim.SGD(self.net.parameters(), lr=0.05, momentum=0.9)
        self.sched = CosineAnnealingLR(self.opt, T_max=epochs)
        self.loss = nn.CrossEntropyLoss()

    def fit(self):
        for epoch in range(self.epochs):
            self.net.train()
            for x, y in self.train_loader:
                self.opt.zero_grad()
                loss = self.loss(self.net(x), y)
                loss.backward()
                self.opt.step()
            self.sched.step()
            print(epoch, round(loss.item(), 4), f"val {self.validate():.3f}")

    @torch.no_grad()
    def validate(self):
        self.net.eval()
        hits = sum((self.net(x).argmax(1) == y).sum().item() for x, y in self.val_loader)
        return hits / 200


Trainer().fit()
