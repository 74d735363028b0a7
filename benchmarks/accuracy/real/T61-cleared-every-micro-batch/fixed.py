"""Variational autoencoder for radar patches, trained with small micro-batches."""
import argparse

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class PatchVAE(nn.Module):
    def __init__(self, dim=64, latent=6):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(dim, 96), nn.SiLU(), nn.Linear(96, 2 * latent))
        self.decoder = nn.Sequential(nn.Linear(latent, 96), nn.SiLU(), nn.Linear(96, dim))

    def forward(self, x):
        mean, log_var = self.encoder(x).chunk(2, dim=-1)
        z = mean + torch.randn_like(mean) * torch.exp(0.5 * log_var)
        return self.decoder(z), mean, log_var


def patches(count, generator):
    rows = torch.linspace(-1, 1, 8)
    centre = torch.rand(count, 2, generator=generator) * 1.2 - 0.6
    width = 0.2 + 0.3 * torch.rand(count, 1, 1, generator=generator)
    dy = rows.view(1, 8, 1) - centre[:, 0].view(-1, 1, 1)
    dx = rows.view(1, 1, 8) - centre[:, 1].view(-1, 1, 1)
    blob = torch.exp(-(dx**2 + dy**2) / (2 * width**2))
    return (blob + 0.02 * torch.randn(blob.shape, generator=generator)).flatten(1)


def train(args):
    torch.manual_seed(args.seed)
    g = torch.Generator().manual_seed(args.seed)
    loader = DataLoader(TensorDataset(patches(1600, g)), batch_size=args.micro_batch, shuffle=True, generator=g)
    model = PatchVAE()
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        total = 0.0
        for i, (x,) in enumerate(loader):
            rec, mean, log_var = model(x)
            rec_loss = (rec - x).pow(2).sum(1).mean()
            kl = 0.5 * (mean.pow(2) + log_var.exp() - 1 - log_var).sum(1).mean()
            loss = (rec_loss + 0.05 * kl) / args.accumulate
            loss.backward()
            if (i + 1) % args.accumulate == 0:
                torch.nn.utils.clip_grad_norm_(model.parameters(), 5.0)
                optimizer.step()
                optimizer.zero_grad()
            total += loss.item() * args.accumulate
        print(f"epoch {epoch}: {total / len(loader):.3f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--micro-batch", type=int, default=16)
    parser.add_argument("--accumulate", type=int, default=4)
    parser.add_argument("--lr", type=float, default=2e-3)
    parser.add_argument("--seed", type=int, default=0)
    train(parser.parse_args())
