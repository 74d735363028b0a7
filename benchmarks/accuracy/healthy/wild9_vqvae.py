"""VQ-VAE on digits: straight-through codes, codebook kept by moving averages instead of gradients."""
import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Codebook(nn.Module):
    def __init__(self, n_codes, dim, decay=0.95):
        super().__init__()
        self.decay = decay
        self.register_buffer("codes", torch.randn(n_codes, dim))
        self.register_buffer("count", torch.ones(n_codes))
        self.register_buffer("total", self.codes.clone())

    def forward(self, z):
        flat = z.reshape(-1, z.shape[-1])
        index = torch.cdist(flat, self.codes).argmin(dim=1)
        if self.training:
            with torch.no_grad():
                onehot = F.one_hot(index, len(self.codes)).to(flat.dtype)
                self.count.lerp_(onehot.sum(0), 1 - self.decay)
                self.total.lerp_(onehot.t() @ flat, 1 - self.decay)
                n = self.count.sum()
                smooth = (self.count + 1e-3) / (n + 1e-3 * len(self.count)) * n
                self.codes.copy_(self.total / smooth[:, None])
                rare = self.count < 0.1
                if rare.any():
                    fresh = flat[torch.randint(len(flat), (int(rare.sum()),))]
                    self.codes[rare] = fresh
                    self.total[rare] = fresh
                    self.count[rare] = 1.0
        chosen = self.codes[index].view_as(z)
        commit = F.mse_loss(z, chosen)
        return z + (chosen - z).detach(), commit, index


class VQVAE(nn.Module):
    def __init__(self, slots=8, dim=8, n_codes=32):
        super().__init__()
        self.slots, self.dim = slots, dim
        self.enc = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, slots * dim))
        self.book = Codebook(n_codes, dim)
        self.dec = nn.Sequential(nn.Linear(slots * dim, 128), nn.ReLU(), nn.Linear(128, 64))

    def forward(self, x):
        z = self.enc(x).view(-1, self.slots, self.dim)
        q, commit, index = self.book(z)
        return self.dec(q.flatten(1)), commit, index


def main():
    torch.manual_seed(2)
    x, _ = load_digits(return_X_y=True)
    x = torch.tensor(x / 16.0, dtype=torch.float32)
    tr, va = train_test_split(x, test_size=0.25, random_state=2)
    train = DataLoader(TensorDataset(tr), 64, shuffle=True)
    model = VQVAE()
    opt = torch.optim.Adam(model.parameters(), lr=2e-3)
    for epoch in range(1, 31):
        model.train()
        total = 0.0
        for (xb,) in train:
            out, commit, _ = model(xb)
            recon = F.mse_loss(out, xb)
            loss = recon + 0.25 * commit
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += recon.item()
        if epoch % 5 == 0:
            model.eval()
            with torch.no_grad():
                out, _, index = model(va)
            print(f"epoch {epoch:2d}  train recon {total / len(train):.5f}  valid recon "
                  f"{F.mse_loss(out, va):.5f}  codes used {index.unique().numel()}")


if __name__ == "__main__":
    main()
