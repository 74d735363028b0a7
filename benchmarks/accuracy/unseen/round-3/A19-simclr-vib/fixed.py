"""SimCLR on bearing vibration snippets without labels, judged by a nearest-neighbour probe."""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

LEN = 96


def snippets(n, seed):
    rng = np.random.default_rng(seed)
    t = np.arange(LEN)
    y = rng.integers(0, 4, n)
    x = np.zeros((n, LEN), dtype=np.float32)
    for i, k in enumerate(y):
        shift = rng.integers(0, LEN)
        burst = np.zeros(LEN)
        for start in range(0, LEN, [12, 16, 24, 48][k]):
            burst += np.exp(-((t - start) % LEN) / 4.0) * np.cos(((t - start) % LEN) * 1.3)
        x[i] = np.roll(burst, shift) + rng.normal(0, 0.2, LEN)
        x[i] += rng.uniform(0, 1.2) * np.sin(2 * np.pi * t / LEN * rng.uniform(0.5, 2) + rng.uniform(0, 6))
        x[i] *= rng.uniform(0.6, 1.6)
    return x, y


class PairDataset(Dataset):
    """Two augmented versions of every snippet."""

    def __init__(self, x, seed=0):
        self.x, self.rng = x, np.random.default_rng(seed)

    def augment(self, sig, idx):
        rng = self.rng
        sig = np.roll(sig, rng.integers(0, LEN))
        sig = sig + rng.uniform(0, 1.2) * np.sin(2 * np.pi * np.arange(LEN) / LEN * rng.uniform(0.5, 2) + rng.uniform(0, 6))
        sig = sig * rng.uniform(0.6, 1.6) + rng.normal(0, 0.15, LEN)
        return torch.tensor(sig, dtype=torch.float32)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, idx):
        return self.augment(self.x[idx], idx), self.augment(self.x[idx], idx)


class Encoder(nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        self.conv = nn.Sequential(nn.Conv1d(1, 24, 9, padding=4), nn.ReLU(), nn.MaxPool1d(2),
                                  nn.Conv1d(24, 24, 15, padding=7), nn.ReLU(), nn.AdaptiveMaxPool1d(8))
        self.fc = nn.Sequential(nn.Flatten(), nn.Linear(24 * 8, 128), nn.ReLU(), nn.Linear(128, 64))
        self.projector = nn.Sequential(nn.ReLU(), nn.Linear(64, dim))

    def embed(self, x):
        return self.fc(self.conv(x.unsqueeze(1)))

    def forward(self, x):
        return F.normalize(self.projector(self.embed(x)), dim=-1)


def nt_xent(z1, z2, temperature=0.2):
    z = torch.cat([z1, z2])
    sim = z @ z.T / temperature
    sim.fill_diagonal_(float("-inf"))
    n = len(z1)
    target = torch.cat([torch.arange(n) + n, torch.arange(n)])
    return F.cross_entropy(sim, target)


@torch.no_grad()
def knn_accuracy(model, xtr, ytr, xte, yte, k=9):
    model.eval()
    a = F.normalize(model.embed(torch.tensor(xte)), dim=-1)
    b = F.normalize(model.embed(torch.tensor(xtr)), dim=-1)
    votes = torch.tensor(ytr)[(a @ b.T).topk(k, dim=1).indices]
    return (votes.mode(dim=1).values == torch.tensor(yte)).float().mean().item()


def main():
    torch.manual_seed(0)
    xtr, ytr = snippets(1200, 0)
    xte, yte = snippets(400, 1)
    model = Encoder()
    loader = DataLoader(PairDataset(xtr), batch_size=120, shuffle=True, drop_last=True)
    opt = torch.optim.Adam(model.parameters(), lr=2e-3)
    print(f"untrained knn accuracy {knn_accuracy(model, xtr, ytr, xte, yte):.3f}")
    for epoch in range(1, 21):
        model.train()
        for v1, v2 in loader:
            loss = nt_xent(model(v1), model(v2))
            opt.zero_grad()
            loss.backward()
            opt.step()
        if epoch % 5 == 0:
            print(f"epoch {epoch} contrastive loss {loss.item():.4f} knn accuracy {knn_accuracy(model, xtr, ytr, xte, yte):.3f}")


if __name__ == "__main__":
    main()
