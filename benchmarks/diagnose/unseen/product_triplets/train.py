"""Metric learning on digit pictures: triplet loss, recall@1 on held-out items."""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits


class Config:
    seed = 1
    dim = 16
    margin = 0.3
    lr = 1e-3
    steps = 500
    batch = 64


class EmbeddingNet(nn.Module):
    """Sixteen 2x2 patches, one attention layer, all tokens joined."""

    def __init__(self, dim, width=16):
        super().__init__()
        self.patch = nn.Conv2d(1, width, 2, stride=2)
        self.pos = nn.Parameter(torch.randn(16, 1, width) * 0.1)
        self.block = nn.TransformerEncoderLayer(width, 2, 32, dropout=0.0)
        self.fc = nn.Linear(16 * width, dim)

    def forward(self, x):
        tokens = self.patch(x).flatten(2).permute(2, 0, 1)
        tokens = self.block(tokens + self.pos)
        z = self.fc(tokens.reshape(len(x), -1))
        return F.normalize(z, dim=1)


class TripletTrainer:
    def __init__(self, cfg):
        self.cfg = cfg
        torch.manual_seed(cfg.seed)
        self.rng = np.random.default_rng(cfg.seed)
        d = load_digits()
        x = torch.tensor(d.images / 16.0, dtype=torch.float32).unsqueeze(1)
        y = d.target
        p = self.rng.permutation(len(x))
        self.xtr, self.ytr = x[p[:1300]], y[p[:1300]]
        self.xte, self.yte = x[p[1300:]], y[p[1300:]]
        self.by_class = [np.flatnonzero(self.ytr == c) for c in range(10)]
        self.net = EmbeddingNet(cfg.dim)
        self.opt = torch.optim.Adam(self.net.parameters(), lr=cfg.lr)

    def sample(self):
        pos = self.rng.integers(0, 10, self.cfg.batch)
        neg = (pos + self.rng.integers(1, 10, self.cfg.batch)) % 10
        pick = lambda cs: self.xtr[[self.rng.choice(self.by_class[c]) for c in cs]]
        return pick(pos), pick(pos), pick(neg)

    def recall_at_1(self):
        self.net.eval()
        with torch.no_grad():
            z = self.net(self.xte)
        sim = z @ z.T
        sim.fill_diagonal_(-2)
        return float((self.yte[sim.argmax(1).numpy()] == self.yte).mean())

    def fit(self):
        for step in range(1, self.cfg.steps + 1):
            self.net.train()
            a, p, n = self.sample()
            za, zp, zn = self.net(a), self.net(p), self.net(n)
            loss = F.relu((za - zp).pow(2).sum(1) - (za - zn).pow(2).sum(1) + self.cfg.margin).mean()
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
            if step % 100 == 0:
                print(f"step {step} triplet loss {loss.item():.4f} recall@1 {self.recall_at_1():.3f}")


if __name__ == "__main__":
    torch.set_num_threads(1)
    TripletTrainer(Config()).fit()
