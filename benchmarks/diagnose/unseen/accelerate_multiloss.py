"""A small VAE with a classifier on its code: reconstruction, KL and class in one loss, with Accelerate."""
import torch
from accelerate import Accelerator
from sklearn.datasets import load_digits
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset


class ClassyVAE(nn.Module):
    def __init__(self, code=12):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(64, 96), nn.ReLU())
        self.mu, self.logvar = nn.Linear(96, code), nn.Linear(96, code)
        self.decoder = nn.Sequential(nn.Linear(code, 96), nn.ReLU(), nn.Linear(96, 64))
        self.classify = nn.Linear(code, 10)

    def forward(self, x):
        h = self.encoder(x)
        mu, logvar = self.mu(h), self.logvar(h)
        z = mu + torch.randn_like(mu) * (0.5 * logvar).exp()
        return self.decoder(z), mu, logvar, self.classify(z)


def terms(out, x, y):
    recon, mu, logvar, logits = out
    rec = F.binary_cross_entropy_with_logits(recon, x, reduction="none").sum(1).mean()
    kl = -0.5 * (1 + logvar - mu.pow(2) - logvar.exp()).sum(1).mean()
    return rec, kl, F.cross_entropy(logits, y)


def main():
    accelerator = Accelerator(cpu=True)
    torch.manual_seed(2)
    d = load_digits()
    x, y = torch.tensor(d.data, dtype=torch.float32) / 16, torch.tensor(d.target)
    train = DataLoader(TensorDataset(x[:1500], y[:1500]), 50, shuffle=True)
    test = DataLoader(TensorDataset(x[1500:], y[1500:]), 99)
    model = ClassyVAE()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    model, optimizer, train, test = accelerator.prepare(model, optimizer, train, test)
    for epoch in range(10):
        model.train()
        for xb, yb in train:
            rec, kl, cls = terms(model(xb), xb, yb)
            loss = rec + 0.5 * kl + 5.0 * cls
            optimizer.zero_grad()
            accelerator.backward(loss)
            optimizer.step()
        print(epoch, rec.item(), kl.item(), cls.item())
    model.eval()
    with torch.no_grad():
        print("accuracy", sum((model(a)[3].argmax(1) == b).sum().item() for a, b in test) / 297)


main()
