"""Reads digits row by row with a GRU; trained with Accelerate and a warmup/linear decay schedule."""
import argparse

import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from transformers import get_linear_schedule_with_warmup


def parse_args():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=15)
    p.add_argument("--batch-size", type=int, default=32)
    p.add_argument("--lr", type=float, default=2e-3)
    p.add_argument("--hidden", type=int, default=48)
    p.add_argument("--warmup-ratio", type=float, default=0.1)
    p.add_argument("--seed", type=int, default=3)
    return p.parse_args()


class RowGRU(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.proj = nn.Linear(8, 32)
        self.rnn = nn.GRU(32, hidden, batch_first=True)
        self.drop = nn.Dropout(0.1)
        self.out = nn.Linear(hidden, 10)

    def forward(self, rows):
        h, _ = self.rnn(torch.relu(self.proj(rows)))
        return self.out(self.drop(h[:, -1]))


def get_loaders(batch_size, seed):
    x, y = load_digits(return_X_y=True)
    x = (x.reshape(-1, 8, 8) / 16.0).astype("float32")
    xt, xv, yt, yv = train_test_split(x, y, test_size=0.2, random_state=seed, stratify=y)
    train = TensorDataset(torch.from_numpy(xt), torch.from_numpy(yt))
    val = TensorDataset(torch.from_numpy(xv), torch.from_numpy(yv))
    return (DataLoader(train, batch_size=batch_size, shuffle=True),
            DataLoader(val, batch_size=128))


@torch.no_grad()
def evaluate(model, loader, accelerator):
    model.eval()
    correct = seen = 0
    for x, y in loader:
        pred = model(x).argmax(-1)
        pred, y = accelerator.gather_for_metrics((pred, y))
        correct += (pred == y).sum().item()
        seen += y.numel()
    return correct / seen


def main():
    args = parse_args()
    set_seed(args.seed)
    accelerator = Accelerator(cpu=True)
    train_loader, val_loader = get_loaders(args.batch_size, args.seed)
    model = RowGRU(args.hidden)
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr)
    model, optimizer, train_loader, val_loader = accelerator.prepare(model, optimizer, train_loader, val_loader)

    total_steps = args.epochs * len(train_loader)
    scheduler = accelerator.prepare(get_linear_schedule_with_warmup(
        optimizer,
        num_warmup_steps=int(args.warmup_ratio * total_steps),
        num_training_steps=total_steps))

    criterion = nn.CrossEntropyLoss()
    for epoch in range(args.epochs):
        model.train()
        running = seen = 0
        for x, y in train_loader:
            optimizer.zero_grad()
            loss = criterion(model(x), y)
            accelerator.backward(loss)
            accelerator.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            scheduler.step()
            running += loss.item() * y.numel()
            seen += y.numel()
        acc = evaluate(model, val_loader, accelerator)
        accelerator.print(f"epoch {epoch + 1:2d} | loss {running / seen:.4f} | val acc {acc:.4f}")
    accelerator.end_training()


if __name__ == "__main__":
    main()
