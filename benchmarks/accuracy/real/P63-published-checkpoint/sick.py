"""Fine-tune a published encoder on a small land-cover set."""
import os
import tempfile

import torch
from torch import nn


class Backbone(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(32, 64), nn.GELU(), nn.Linear(64, 64), nn.GELU())
        self.decoder = nn.Linear(64, 32)

    def forward(self, x):
        return self.decoder(self.encoder(x))


class EarthModel(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.model = Backbone()
        self.head = nn.Linear(64, classes)

    def forward(self, x):
        return self.head(self.model.encoder(x))


def pretrain(path, basis):
    net = Backbone()
    opt = torch.optim.Adam(net.parameters(), lr=2e-3)
    for _ in range(200):
        x = torch.randn(64, 6) @ basis
        loss = nn.functional.mse_loss(net(x + 0.3 * torch.randn_like(x)), x)
        opt.zero_grad()
        loss.backward()
        opt.step()
    torch.save(net.state_dict(), path)


def build(path, classes):
    net = EarthModel(classes)
    net.load_state_dict(torch.load(path), strict=False)  # <- PM409
    for p in net.model.parameters():
        p.requires_grad = False
    return net


def main():
    torch.manual_seed(0)
    basis = torch.randn(6, 32)
    path = os.path.join(tempfile.mkdtemp(), "published.pth")
    pretrain(path, basis)
    z = torch.randn(400, 6)
    x, y = z @ basis + 0.3 * torch.randn(400, 32), (z[:, :3].argmax(1))
    net = build(path, 3)
    opt = torch.optim.Adam(net.head.parameters(), lr=5e-3)
    for epoch in range(10):
        for idx in torch.randperm(320).split(32):
            loss = nn.functional.cross_entropy(net(x[idx]), y[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
        with torch.no_grad():
            accuracy = (net(x[320:]).argmax(1) == y[320:]).float().mean().item()
        print(f"{epoch} {loss.item():.3f} {accuracy:.3f}")


main()
