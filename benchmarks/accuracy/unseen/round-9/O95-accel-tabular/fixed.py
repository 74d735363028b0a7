"""Accelerate loop with gradient accumulation on a tabular classification task."""
import argparse
import warnings

import torch
import torch.nn.functional as F
from accelerate import Accelerator
from accelerate.utils import set_seed
from sklearn.datasets import make_classification
from sklearn.model_selection import train_test_split
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore")


def loaders(batch_size, seed):
    x, y = make_classification(n_samples=4000, n_features=30, n_informative=14, n_redundant=6, n_classes=6,
                               n_clusters_per_class=2, class_sep=1.4, random_state=seed)
    xtr, xva, ytr, yva = train_test_split(x, y, test_size=0.25, stratify=y, random_state=seed)
    mu, sd = xtr.mean(0), xtr.std(0)
    wrap = lambda a, b: TensorDataset(torch.tensor((a - mu) / sd, dtype=torch.float32), torch.tensor(b))
    return (DataLoader(wrap(xtr, ytr), batch_size, shuffle=True, drop_last=True),
            DataLoader(wrap(xva, yva), 500))


def build(n_in, n_out, width=128):
    return nn.Sequential(nn.Linear(n_in, width), nn.ReLU(), nn.Dropout(0.1),
                         nn.Linear(width, width), nn.ReLU(), nn.Dropout(0.1), nn.Linear(width, n_out))


class Loop:
    def __init__(self, args):
        self.accelerator = Accelerator(cpu=True, gradient_accumulation_steps=args.accumulate)
        train, valid = loaders(args.micro_batch, args.seed)
        model = build(30, 6)
        optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9, nesterov=True)
        updates = args.epochs * len(train) // args.accumulate
        scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, updates)
        self.model, self.optimizer, self.train, self.valid, self.scheduler = self.accelerator.prepare(
            model, optimizer, train, valid, scheduler)
        self.max_norm = args.max_norm

    def update(self, loss):
        self.accelerator.backward(loss)
        if self.accelerator.sync_gradients:
            self.accelerator.clip_grad_norm_(self.model.parameters(), self.max_norm)
        self.optimizer.step()
        self.scheduler.step()
        self.optimizer.zero_grad()

    def epoch(self):
        self.model.train()
        total = 0.0
        for x, y in self.train:
            with self.accelerator.accumulate(self.model):
                loss = F.cross_entropy(self.model(x), y)
                self.update(loss)
            total += loss.item()
        return total / len(self.train)

    @torch.no_grad()
    def evaluate(self):
        self.model.eval()
        loss, hits, n = 0.0, 0, 0
        for x, y in self.valid:
            out, y = self.accelerator.gather_for_metrics((self.model(x), y))
            loss += F.cross_entropy(out, y, reduction="sum").item()
            hits += (out.argmax(1) == y).sum().item()
            n += len(y)
        return loss / n, hits / n


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--micro-batch", type=int, default=8)
    ap.add_argument("--accumulate", type=int, default=8)
    ap.add_argument("--epochs", type=int, default=12)
    ap.add_argument("--lr", type=float, default=0.05)
    ap.add_argument("--max-norm", type=float, default=5.0)
    ap.add_argument("--seed", type=int, default=21)
    args = ap.parse_args()
    set_seed(args.seed)
    loop = Loop(args)
    for e in range(1, args.epochs + 1):
        train_loss = loop.epoch()
        val_loss, acc = loop.evaluate()
        loop.accelerator.print(f"epoch {e:2d}  train {train_loss:.4f}  valid {val_loss:.4f}  accuracy {acc:.4f}")


if __name__ == "__main__":
    main()
