"""Machine state recognition from multichannel vibration windows with a stacked GRU."""
import argparse

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

STATES = 4


def record(n, steps=24, channels=4, seed=0):
    """State = which channel carries the oscillation and whether it fades in or out."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, STATES, n)
    t = np.linspace(0, 1, steps)
    x = rng.normal(0, 0.4, (n, steps, channels))
    for i, state in enumerate(y):
        envelope = t if state % 2 else 1 - t
        wave = np.sin(2 * np.pi * (4 * t + rng.random()))
        x[i, :, state // 2] += 1.5 * envelope * wave
    return TensorDataset(torch.tensor(x, dtype=torch.float32), torch.tensor(y))


class StateGRU(nn.Module):
    def __init__(self, channels, hidden=32, layers=2):
        super().__init__()
        self.inp = nn.Linear(channels, hidden)
        self.rnn = nn.GRU(hidden, hidden, num_layers=layers, dropout=0.1, batch_first=True)
        self.head = nn.Linear(hidden, STATES)

    def forward(self, x):
        h, _ = self.rnn(torch.relu(self.inp(x)))
        return self.head(h.mean(dim=1))


def run(loader, model, optimizer=None):
    training = optimizer is not None
    model.train(training)
    loss_sum = hits = n = 0
    with torch.set_grad_enabled(training):
        for x, y in loader:
            logits = model(x)
            loss = nn.functional.cross_entropy(logits, y)
            if training:
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
            loss_sum += loss.item() * len(y)
            hits += (logits.argmax(1) == y).sum().item()
            n += len(y)
    return loss_sum / n, hits / n


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=14)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--lr", type=float, default=3e-3)
    args = parser.parse_args()

    torch.manual_seed(20)
    train = DataLoader(record(1024, seed=1), batch_size=args.batch_size, shuffle=True)
    val = DataLoader(record(320, seed=2), batch_size=args.batch_size)
    model = StateGRU(channels=4)
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        train_loss, train_acc = run(train, model, optimizer)
        val_loss, val_acc = run(val, model)
        print(f"{epoch:02d} train {train_loss:.4f}/{train_acc:.3f} val {val_loss:.4f}/{val_acc:.3f}")


if __name__ == "__main__":
    main()
