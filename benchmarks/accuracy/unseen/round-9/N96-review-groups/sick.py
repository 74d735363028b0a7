"""Sentiment of generated reviews: embeddings, a small mixer, AdamW with parameter groups."""
import argparse

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

VOCAB, LENGTH = 500, 24


def reviews(n, seed):
    rng = np.random.default_rng(seed)
    polarity = np.random.default_rng(99).standard_normal(VOCAB)
    tokens = rng.integers(0, VOCAB, size=(n, LENGTH))
    score = polarity[tokens].mean(1) * np.sqrt(LENGTH)
    label = (score + 0.25 * rng.standard_normal(n) > 0).astype(np.int64)
    return TensorDataset(torch.from_numpy(tokens), torch.from_numpy(label))


class Mixer(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.up = nn.Linear(dim, 2 * dim)
        self.down = nn.Linear(2 * dim, dim)

    def forward(self, x):
        return x + self.down(F.gelu(self.up(self.norm(x))))


class ReviewNet(nn.Module):
    def __init__(self, dim=24, depth=2):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, dim)
        self.blocks = nn.ModuleList(Mixer(dim) for _ in range(depth))
        self.norm = nn.LayerNorm(dim)
        self.out = nn.Linear(dim, 2)

    def forward(self, tokens):
        x = self.embed(tokens)
        for block in self.blocks:
            x = block(x)
        return self.out(self.norm(x.mean(dim=1)))


def parameter_groups(model, weight_decay):
    decay, plain = [], []
    for module in model.modules():
        for name, p in module.named_parameters(recurse=False):
            if isinstance(module, nn.Linear) and name == "weight":
                decay.append(p)
            elif isinstance(module, nn.LayerNorm) or name == "bias":
                plain.append(p)
    return [{"params": decay, "weight_decay": weight_decay}, {"params": plain, "weight_decay": 0.0}]


def run_epoch(model, loader, opt=None, sched=None):
    model.train(opt is not None)
    loss_sum, hits, n = 0.0, 0, 0
    with torch.set_grad_enabled(opt is not None):
        for tokens, label in loader:
            logits = model(tokens)
            loss = F.cross_entropy(logits, label)
            if opt is not None:
                opt.zero_grad(set_to_none=True)
                loss.backward()
                opt.step()
                sched.step()
            loss_sum += loss.item() * len(label)
            hits += (logits.argmax(1) == label).sum().item()
            n += len(label)
    return loss_sum / n, hits / n


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--lr", type=float, default=3e-3)
    ap.add_argument("--weight-decay", type=float, default=0.05)
    ap.add_argument("--epochs", type=int, default=8)
    ap.add_argument("--seed", type=int, default=0)
    args = ap.parse_args()
    torch.manual_seed(args.seed)
    train = DataLoader(reviews(6000, 1), 128, shuffle=True)
    valid = DataLoader(reviews(1500, 2), 500)
    model = ReviewNet()
    opt = torch.optim.AdamW(parameter_groups(model, args.weight_decay), lr=args.lr)
    sched = torch.optim.lr_scheduler.OneCycleLR(opt, args.lr, total_steps=args.epochs * len(train))
    for epoch in range(args.epochs):
        tr_loss, tr_acc = run_epoch(model, train, opt, sched)
        va_loss, va_acc = run_epoch(model, valid)
        print(f"epoch {epoch}  train {tr_loss:.4f} / {tr_acc:.3f}   valid {va_loss:.4f} / {va_acc:.3f}")


if __name__ == "__main__":
    main()
