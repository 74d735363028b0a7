"""Two-branch network: images and metadata; validation switches modes by hand."""
import torch
from torch import nn


class Branch(nn.Module):
    def __init__(self, n_in):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(n_in, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Dropout(0.3))

    def forward(self, x):
        return self.net(x)


class Fusion(nn.Module):
    def __init__(self):
        super().__init__()
        self.image, self.meta = Branch(20), Branch(6)
        self.out = nn.Linear(64, 3)

    def train(self, mode=True):
        self.training = mode
        self.image.train(mode)
        return self

    def forward(self, image, meta):
        return self.out(torch.cat([self.image(image), self.meta(meta)], 1))


def data(n):
    image, meta = torch.randn(n, 20), torch.randn(n, 6)
    y = (image[:, :3] + meta[:, :3] + 0.5 * torch.randn(n, 3)).argmax(1)
    return image, meta, y


def main():
    torch.manual_seed(0)
    image, meta, y = data(800)
    held = data(300)
    model = Fusion()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    for epoch in range(8):
        model.train()
        for rows in torch.randperm(800).split(40):
            loss = nn.functional.cross_entropy(model(image[rows], meta[rows]), y[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            accuracy = (model(held[0], held[1]).argmax(1) == held[2]).float().mean().item()  # <- PM612
        print(epoch, round(loss.item(), 3), round(accuracy, 3))


main()
