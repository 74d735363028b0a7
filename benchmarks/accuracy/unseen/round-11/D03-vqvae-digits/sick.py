# %% VQ-VAE on the sklearn digits, 4 discrete tokens per image
import numpy as np
import torch
from torch import nn
from torch.nn import functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

torch.set_num_threads(1)
torch.manual_seed(7)
np.random.seed(7)

# %% data
X = (load_digits().data / 16.0).astype("float32")
X_train, X_test = train_test_split(X, test_size=0.25, random_state=0)
X_train, X_test = torch.from_numpy(X_train), torch.from_numpy(X_test)

N_TOKENS, DIM, K, BETA = 4, 8, 64, 0.25


# %% model
class VectorQuantizer(nn.Module):
    def __init__(self, k, dim):
        super().__init__()
        self.codebook = nn.Embedding(k, dim)
        nn.init.uniform_(self.codebook.weight, -1.0 / k, 1.0 / k)

    def forward(self, z):
        flat = z.reshape(-1, z.shape[-1])
        d = flat.pow(2).sum(1, keepdim=True) - 2 * flat @ self.codebook.weight.t() + self.codebook.weight.pow(2).sum(1)
        ids = d.argmin(1)
        q = self.codebook(ids).view_as(z)
        q = z + (q - z).detach()
        vq_loss = F.mse_loss(q, z.detach()) + BETA * F.mse_loss(z, q.detach())
        return q, vq_loss, ids


class VQVAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, N_TOKENS * DIM))
        self.vq = VectorQuantizer(K, DIM)
        self.dec = nn.Sequential(nn.Linear(N_TOKENS * DIM, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 64), nn.Sigmoid())

    def forward(self, x):
        z = self.enc(x).view(-1, N_TOKENS, DIM)
        q, vq_loss, ids = self.vq(z)
        return self.dec(q.flatten(1)), vq_loss, ids


model = VQVAE()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)


# %% train
def perplexity(ids):
    p = torch.bincount(ids, minlength=K).float()
    p = p / p.sum()
    return torch.exp(-(p * (p + 1e-10).log()).sum()).item()


for epoch in range(42):
    perm = torch.randperm(len(X_train))
    tot_rec = tot_vq = 0.0
    for i in range(0, len(perm), 64):
        xb = X_train[perm[i:i + 64]]
        recon, vq_loss, _ = model(xb)
        rec_loss = F.mse_loss(recon, xb) * 10
        optimizer.zero_grad()
        (rec_loss + vq_loss).backward()
        optimizer.step()
        tot_rec += rec_loss.item() * len(xb) / 10
        tot_vq += vq_loss.item() * len(xb)
    if epoch % 6 == 5:
        with torch.no_grad():
            recon, _, ids = model(X_test)
            mse = F.mse_loss(recon, X_test).item()
        print("epoch %d | train rec %.5f vq %.5f | test mse %.5f | perplexity %.1f" % (
            epoch + 1, tot_rec / len(perm), tot_vq / len(perm), mse, perplexity(ids)))
