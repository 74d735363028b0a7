"""Vector-quantised autoencoder on small curves."""
import torch
from torch import nn
import torch.nn.functional as F


class Quantizer(nn.Module):
    def __init__(self, codes, dim):
        super().__init__()
        self.book = nn.Embedding(codes, dim)
        nn.init.uniform_(self.book.weight, -1.0, 1.0)

    def forward(self, z):
        distance = torch.cdist(z, self.book.weight)
        index = distance.argmin(-1)
        q = self.book(index)
        loss = F.mse_loss(q, z.detach()) + 0.25 * F.mse_loss(z, q.detach())
        return z + (q - z).detach(), loss, index


class VQAutoencoder(nn.Module):
    def __init__(self, length=32, parts=4, dim=4):
        super().__init__()
        self.parts, self.dim = parts, dim
        self.encoder = nn.Sequential(nn.Linear(length, 64), nn.ReLU(), nn.Linear(64, parts * dim))
        self.quantizer = Quantizer(24, dim)
        self.decoder = nn.Sequential(nn.Linear(parts * dim, 64), nn.ReLU(), nn.Linear(64, length))

    def forward(self, x):
        z = self.encoder(x).view(-1, self.parts, self.dim)
        q, loss, index = self.quantizer(z)
        return self.decoder(q.flatten(1)), loss, index


def curves(n):
    t = torch.linspace(0, 1, 32)
    a, b, c = torch.rand(3, n, 1)
    return torch.sin(6.28 * (1 + 2 * a) * t + 6.28 * b) * (0.5 + c)


def train(steps=300):
    torch.manual_seed(0)
    model = VQAutoencoder()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    for step in range(steps):
        x = curves(64)
        out, vq_loss, index = model(x)
        loss = F.mse_loss(out, x) + vq_loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 60 == 0:
            print(step, f"{loss.item():.4f}", "codes used", index.unique().numel())


train()
