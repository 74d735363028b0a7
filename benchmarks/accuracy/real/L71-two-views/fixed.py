"""SimCLR on small sensor images, then a linear probe."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


def augment(x):
    return x * (0.8 + 0.4 * torch.rand(len(x), 1, 1, 1)) + 0.3 * torch.randn_like(x)


class Encoder(nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        self.conv = nn.Sequential(
            nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 16, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(2), nn.Flatten()
        )
        self.projector = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, dim))

    def forward(self, x):
        return self.projector(self.conv(x))


class NTXent(nn.Module):
    def __init__(self, temperature=0.2):
        super().__init__()
        self.temperature = temperature

    def forward(self, z_i, z_j):
        n = len(z_i)
        z_i, z_j = F.normalize(z_i, dim=1), F.normalize(z_j, dim=1)
        z = torch.cat([z_i, z_j])
        sim = z @ z.t() / self.temperature
        sim = sim.masked_fill(torch.eye(2 * n, dtype=torch.bool), -1e9)
        target = torch.cat([torch.arange(n) + n, torch.arange(n)])
        return F.cross_entropy(sim, target)


def pictures(n):
    label = torch.randint(5, (n,))
    base = torch.randn(5, 1, 12, 12, generator=torch.Generator().manual_seed(7))
    return base[label] + 0.6 * torch.randn(n, 1, 12, 12), label


def main():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    images, labels = pictures(1200)
    loader = DataLoader(TensorDataset(images), batch_size=40, shuffle=True, drop_last=True)
    encoder, loss_fn = Encoder(), NTXent()
    optimizer = torch.optim.Adam(encoder.parameters(), lr=2e-3)
    for epoch in range(6):
        total = 0.0
        for (x,) in loader:
            loss = loss_fn(encoder(augment(x)), encoder(augment(x)))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"pretrain {epoch}: {total / len(loader):.4f}")
    encoder.eval()
    with torch.no_grad():
        features = encoder.conv(images)
    probe = nn.Linear(64, 5)
    optimizer = torch.optim.Adam(probe.parameters(), lr=1e-2)
    for _ in range(100):
        loss = F.cross_entropy(probe(features[:900]), labels[:900])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print("probe accuracy", (probe(features[900:]).argmax(1) == labels[900:]).float().mean().item())


if __name__ == "__main__":
    main()
