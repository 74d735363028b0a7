"""SimCLR on shifted, noisy 1-D motifs followed by a nearest-centroid probe."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

L = 64


def motifs(n, seed, k=6):
    bank = torch.Generator().manual_seed(123)
    shapes = torch.randn(k, 16, generator=bank).cumsum(1)
    shapes = (shapes - shapes.mean(1, keepdim=True)) / shapes.std(1, keepdim=True)
    g = torch.Generator().manual_seed(seed)
    y = torch.randint(0, k, (n,), generator=g)
    x = torch.zeros(n, L)
    for i in range(n):
        s = torch.randint(0, L - 16, (1,), generator=g).item()
        x[i, s:s + 16] = shapes[y[i]]
    return x + 0.25 * torch.randn(n, L, generator=g), y


class Augment:
    def __call__(self, x):
        x = torch.roll(x, int(torch.randint(-24, 25, (1,))))
        return x * (0.7 + 0.6 * torch.rand(1)) + 0.3 * torch.randn(L)


class ContrastiveViews(Dataset):
    def __init__(self, x, transform, n_views=2):
        self.x, self.transform, self.n_views = x, transform, n_views

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return [self.transform(self.x[i]) for _ in range(self.n_views)]


class Encoder(nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(L, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, dim))
        self.proj = nn.Sequential(nn.ReLU(), nn.Linear(dim, 32))

    def forward(self, x):
        return F.normalize(self.proj(self.net(x)), dim=1)


def nt_xent(z1, z2, tau=0.2):
    z = torch.cat([z1, z2])
    n = len(z1)
    sim = z @ z.T / tau
    sim.fill_diagonal_(-1e9)
    target = torch.cat([torch.arange(n, 2 * n), torch.arange(n)])
    return F.cross_entropy(sim, target)


@torch.no_grad()
def probe(enc, xtr, ytr, xte, yte):
    a, b = F.normalize(enc.net(xtr), dim=1), F.normalize(enc.net(xte), dim=1)
    nn_idx = (b @ a.T).topk(5, dim=1).indices
    return (ytr[nn_idx].mode(1).values == yte).float().mean().item()


def main():
    torch.manual_seed(0)
    x, y = motifs(1000, 0)
    xt, yt = motifs(300, 1)
    loader = DataLoader(ContrastiveViews(x, Augment()), batch_size=100, shuffle=True)
    enc = Encoder()
    opt = torch.optim.Adam(enc.parameters(), lr=2e-3)
    for epoch in range(50):
        total = 0.0
        for v1, v2 in loader:
            loss = nt_xent(enc(v1), enc(v2))
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
        if epoch % 10 == 9:
            print(f"epoch {epoch + 1} nt-xent {total / len(loader):.4f} knn acc {probe(enc, x, y, xt, yt):.3f}")


if __name__ == "__main__":
    main()
