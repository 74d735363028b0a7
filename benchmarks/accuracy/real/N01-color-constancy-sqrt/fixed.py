"""Low-light enhancement without references: exposure, colour-constancy and smoothness losses."""
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class DarkPhotos(Dataset):
    """Random dark patches, some of them of walls."""

    def __init__(self, length=240, size=12):
        g = torch.Generator().manual_seed(0)
        self.images = 0.3 * torch.rand(length, 3, size, size, generator=g)
        grey = 0.2 * torch.rand(8, 1, size, size, generator=g)
        self.images[100:108] = grey.expand(-1, 3, -1, -1)

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        return self.images[index]


class EnhanceNet(nn.Module):
    """One curve for all channels, estimated from the luminance."""

    def __init__(self, n=8):
        super().__init__()
        self.curve = nn.Sequential(nn.Conv2d(1, n, 3, padding=1), nn.ReLU(), nn.Conv2d(n, 1, 3, padding=1), nn.Tanh())
        self.gain = nn.Parameter(torch.tensor(0.5))

    def forward(self, x):
        a = self.curve(x.mean(1, keepdim=True))
        return x + (a + self.gain) * (x - x * x)


class ColorConstancyLoss(nn.Module):
    def forward(self, x):
        r, g, b = torch.mean(x, [2, 3]).unbind(1)
        d_rg, d_rb, d_gb = torch.pow(r - g, 2), torch.pow(r - b, 2), torch.pow(b - g, 2)
        k = torch.pow(torch.pow(d_rg, 2) + torch.pow(d_rb, 2) + torch.pow(d_gb, 2) + 1e-5, 0.5)
        return k.mean()


class ExposureLoss(nn.Module):
    def __init__(self, level=0.6):
        super().__init__()
        self.level = level
        self.pool = nn.AvgPool2d(4)

    def forward(self, x):
        return (self.pool(x.mean(1, keepdim=True)) - self.level).pow(2).mean()


def train():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    net, loss_col, loss_exp = EnhanceNet(), ColorConstancyLoss(), ExposureLoss()
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-2, weight_decay=1e-4)
    loader = DataLoader(DarkPhotos(), batch_size=8, shuffle=True)
    for epoch in range(3):
        for iteration, img in enumerate(loader):
            enhanced = net(img)
            loss = 5 * loss_col(enhanced) + 10 * loss_exp(enhanced)
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(net.parameters(), 0.1)
            optimizer.step()
            if iteration % 10 == 0:
                print(f"epoch {epoch} iteration {iteration} loss {loss.item():.4f}")


if __name__ == "__main__":
    train()
