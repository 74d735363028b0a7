# VAE on the sklearn digits
import argparse

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from torch.utils.data import DataLoader, TensorDataset


class VAE(nn.Module):
    def __init__(self, d_in=64, d_hid=128, d_z=10):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(d_in, d_hid), nn.ReLU())
        self.mu = nn.Linear(d_hid, d_z)
        self.logvar = nn.Linear(d_hid, d_z)
        self.dec = nn.Sequential(nn.Linear(d_z, d_hid), nn.ReLU(), nn.Linear(d_hid, d_in))

    def reparameterize(self, mu, logvar):
        if not self.training:
            return mu
        return mu + torch.randn_like(mu) * torch.exp(0.5 * logvar)

    def forward(self, x):
        h = self.enc(x)
        mu, logvar = self.mu(h), self.logvar(h)
        z = self.reparameterize(mu, logvar)
        return self.dec(z), mu, logvar


def loss_function(recon_logits, x, mu, logvar):
    rec = F.binary_cross_entropy_with_logits(recon_logits, x)
    kld = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
    return rec + kld, rec, kld


def train_epoch(model, loader, opt):
    model.train()
    sums = np.zeros(3)
    for (x,) in loader:
        recon, mu, logvar = model(x)
        loss, rec, kld = loss_function(recon, x, mu, logvar)
        opt.zero_grad()
        loss.backward()
        opt.step()
        sums += [loss.item(), rec.item(), kld.item()]
    return sums / len(loader)


@torch.no_grad()
def evaluate(model, x_tr, y_tr, x_te, y_te):
    model.eval()
    recon, mu_te, _ = model(x_te)
    mse = (torch.sigmoid(recon) - x_te).pow(2).mean().item()
    mu_tr = model(x_tr)[1]
    clf = LogisticRegression(max_iter=200).fit(mu_tr.numpy(), y_tr)
    return mse, clf.score(mu_te.numpy(), y_te)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=20)
    p.add_argument("--batch-size", type=int, default=64)
    p.add_argument("--lr", type=float, default=3e-3)
    args = p.parse_args()
    torch.manual_seed(0)

    X, y = load_digits(return_X_y=True)
    X = (X / 16.0).astype(np.float32)
    x_tr, x_te, y_tr, y_te = train_test_split(X, y, test_size=0.25, random_state=0)
    x_tr, x_te = torch.from_numpy(x_tr), torch.from_numpy(x_te)
    loader = DataLoader(TensorDataset(x_tr), batch_size=args.batch_size, shuffle=True, drop_last=True)

    model = VAE()
    opt = torch.optim.Adam(model.parameters(), lr=args.lr)
    base = (x_te - x_tr.mean(0)).pow(2).mean().item()
    for epoch in range(1, args.epochs + 1):
        loss, rec, kld = train_epoch(model, loader, opt)
        if epoch % 5 == 0:
            mse, acc = evaluate(model, x_tr, y_tr, x_te, y_te)
            print(f"epoch {epoch:2d} loss {loss:.3f} rec {rec:.3f} kld {kld:.4f} | "
                  f"test mse {mse:.4f} (mean image {base:.4f}) latent probe {acc:.3f}")


if __name__ == "__main__":
    main()
