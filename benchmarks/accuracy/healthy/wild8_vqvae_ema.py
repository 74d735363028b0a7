"""VQ-VAE on 8x8 digits: straight-through estimator, codebook kept by exponential moving averages."""
import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

CODES, DIM, SLOTS = 48, 8, 4


class Codebook(nn.Module):
    """Holds buffers only: the optimizer never sees the codes."""

    def __init__(self, decay=0.95):
        super().__init__()
        self.decay = decay
        self.register_buffer("codes", torch.randn(CODES, DIM))
        self.register_buffer("count", torch.ones(CODES))
        self.register_buffer("total", self.codes.clone())

    @torch.no_grad()
    def follow(self, flat, index):
        onehot = F.one_hot(index, CODES).float()
        self.count.lerp_(onehot.sum(0), 1 - self.decay)
        self.total.lerp_(onehot.T @ flat, 1 - self.decay)
        self.codes.copy_(self.total / self.count.clamp_min(1e-2).unsqueeze(1))
        lonely = self.count < 0.3
        if lonely.any():
            pick = flat[torch.randint(len(flat), (int(lonely.sum()),))]
            self.codes[lonely] = pick
            self.total[lonely] = pick
            self.count[lonely] = 1.0

    def forward(self, z):
        flat = z.reshape(-1, DIM)
        index = torch.cdist(flat.detach(), self.codes).argmin(1)
        quantised = self.codes[index].view_as(z)
        commitment = F.mse_loss(z, quantised)
        if self.training:
            self.follow(flat.detach(), index)
        return z + (quantised - z).detach(), commitment, index


class VQVAE(nn.Module):
    def __init__(self, hidden=128):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(64, hidden), nn.ReLU(), nn.Linear(hidden, SLOTS * DIM))
        self.book = Codebook()
        self.dec = nn.Sequential(nn.Linear(SLOTS * DIM, hidden), nn.ReLU(), nn.Linear(hidden, 64))

    def forward(self, x):
        z = self.enc(x).view(-1, SLOTS, DIM)
        q, commitment, index = self.book(z)
        return self.dec(q.flatten(1)), commitment, index


def main():
    torch.manual_seed(10)
    x = torch.tensor(load_digits().data, dtype=torch.float32)
    x = x[torch.randperm(len(x))]
    x = (x - x[:1400].mean()) / x[:1400].std()
    train, val = x[:1400], x[1400:]
    loader = DataLoader(TensorDataset(train), batch_size=70, shuffle=True)
    model = VQVAE()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    for epoch in range(1, 41):
        model.train()
        total = 0.0
        for (xb,) in loader:
            out, commitment, _ = model(xb)
            loss = F.mse_loss(out, xb) + 0.25 * commitment
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        if epoch % 8 == 0:
            model.eval()
            with torch.no_grad():
                out, _, index = model(val)
                mse = F.mse_loss(out, val).item()
            print(f"epoch {epoch} loss {total / len(loader):.4f} val mse {mse:.4f} (mean image "
                  f"{F.mse_loss(train.mean(0).expand_as(val), val).item():.4f}) codes in use {index.unique().numel()}")


if __name__ == "__main__":
    main()
