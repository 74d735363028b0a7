"""SimCLR in small: two noisy views of a digit should be nearer to each other than to all others."""
import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, Dataset


class TwoViews(Dataset):
    def __init__(self, images):
        self.images = images

    def __len__(self):
        return len(self.images)

    def view(self, image):
        image = torch.roll(image, tuple(torch.randint(-1, 2, (2,)).tolist()), (0, 1))
        return image + 0.1 * torch.randn_like(image)

    def __getitem__(self, i):
        return self.view(self.images[i]), self.view(self.images[i])


class Encoder(nn.Module):
    def __init__(self, out=24):
        super().__init__()
        self.conv = nn.Sequential(nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
                                  nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.Flatten())
        self.project = nn.Sequential(nn.Linear(512, 64), nn.ReLU(), nn.Linear(64, out))

    def forward(self, x):
        return F.normalize(self.project(self.conv(x[:, None])), dim=1)


def nt_xent(a, b, temperature=0.2):
    z = torch.cat([a, b])
    sim = z @ z.T / temperature
    sim.fill_diagonal_(-1e9)
    n = len(a)
    target = torch.cat([torch.arange(n, 2 * n), torch.arange(n)])
    return F.cross_entropy(sim, target)


def main():
    torch.manual_seed(0)
    images = torch.tensor(load_digits().images, dtype=torch.float32) / 16
    loader = DataLoader(TwoViews(images[:1500]), batch_size=64, shuffle=True, drop_last=True)
    net = Encoder()
    opt = torch.optim.Adam(net.parameters(), lr=1e-3)
    for epoch in range(6):
        for a, b in loader:
            loss = nt_xent(net(a), net(b))
            opt.zero_grad()
            loss.backward()
            opt.step()
        print(epoch, loss.item())


main()
