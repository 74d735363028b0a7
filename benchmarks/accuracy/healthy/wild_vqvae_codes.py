"""A VQ-VAE on digits: straight-through codes, commitment loss, an EMA codebook and revival of unused codes."""
import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn


class Codebook(nn.Module):
    """Codes follow the mean of what is assigned to them; they have no gradient."""

    def __init__(self, codes=24, dim=6, decay=0.95):
        super().__init__()
        self.decay = decay
        self.register_buffer("table", torch.randn(codes, dim))
        self.register_buffer("count", torch.ones(codes))
        self.register_buffer("total", self.table.clone())

    def forward(self, z):
        idx = torch.cdist(z, self.table).argmin(1)
        if self.training:
            with torch.no_grad():
                hot = F.one_hot(idx, len(self.table)).float()
                self.count.mul_(self.decay).add_(hot.sum(0), alpha=1 - self.decay)
                self.total.mul_(self.decay).add_(hot.T @ z, alpha=1 - self.decay)
                idle = self.count < 0.05
                if idle.any():
                    fresh = z[torch.randint(0, len(z), (int(idle.sum()),))]
                    self.total[idle], self.count[idle] = fresh, 1.0
                self.table.copy_(self.total / self.count[:, None])
        code = self.table[idx]
        return z + (code - z).detach(), F.mse_loss(z, code.detach()), idx


class VQVAE(nn.Module):
    def __init__(self, parts=4, dim=6):
        super().__init__()
        self.parts, self.dim = parts, dim
        self.enc = nn.Sequential(nn.Linear(64, 96), nn.ReLU(), nn.Linear(96, parts * dim))
        self.book = Codebook(dim=dim)
        self.dec = nn.Sequential(nn.Linear(parts * dim, 96), nn.ReLU(), nn.Linear(96, 64))

    def forward(self, x):
        z = self.enc(x).view(-1, self.dim)
        q, commit, idx = self.book(z)
        return self.dec(q.view(len(x), -1)), commit, idx


torch.manual_seed(0)
torch.set_num_threads(1)
x = torch.tensor(load_digits().data, dtype=torch.float32) / 16
x, vx = x[:1500], x[1500:]
model = VQVAE()
opt = torch.optim.Adam(model.parameters(), lr=2e-3)
for epoch in range(24):
    model.train()
    for idx in torch.randperm(len(x)).split(50):
        rec, commit, _ = model(x[idx])
        loss = F.mse_loss(rec, x[idx]) + 0.02 * commit
        opt.zero_grad()
        loss.backward()
        opt.step()
    if epoch % 4 == 3:
        model.eval()
        with torch.no_grad():
            rec, _, codes = model(vx)
        left = F.mse_loss(rec, vx) / F.mse_loss(vx, x.mean(0).expand_as(vx))
        print(f"epoch {epoch + 1} loss {loss.item():.4f} unexplained {left:.3f} codes in use {len(codes.unique())}")
