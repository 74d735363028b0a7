"""Small-sample digit classifier trained by step count, with a look at the validation set every N steps."""
from dataclasses import dataclass

import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch.utils.data import DataLoader, TensorDataset


@dataclass
class TrainArgs:
    steps: int = 600
    eval_every: int = 50
    batch_size: int = 32
    lr: float = 2e-3
    weight_decay: float = 1e-4
    dropout: float = 0.5
    width: int = 256
    train_size: int = 100
    seed: int = 17


class Net(nn.Module):
    def __init__(self, a):
        super().__init__()
        self.inp = nn.Linear(64, a.width)
        self.hidden = nn.Linear(a.width, a.width)
        self.drop_in, self.drop = nn.Dropout(0.25), nn.Dropout(a.dropout)
        self.norm = nn.BatchNorm1d(a.width)
        self.out = nn.Linear(a.width, 10)

    def forward(self, x):
        x = self.drop(torch.relu(self.norm(self.inp(self.drop_in(x)))))
        x = self.drop(torch.relu(self.hidden(x)))
        return self.out(x)


def forever(loader):
    while True:
        yield from loader


class StepTrainer:
    def __init__(self, args, model, train, valid):
        self.a, self.model, self.train_loader, self.valid_loader = args, model, train, valid
        self.opt = torch.optim.AdamW(model.parameters(), lr=args.lr, weight_decay=args.weight_decay)
        self.sched = torch.optim.lr_scheduler.CosineAnnealingLR(self.opt, args.steps)
        self.crit = nn.CrossEntropyLoss()

    def training_step(self, x, y):
        self.model.train()
        self.opt.zero_grad()
        loss = self.crit(self.model(x), y)
        loss.backward()
        self.opt.step()
        self.sched.step()
        return loss.item()

    @torch.no_grad()
    def evaluate(self):
        self.model.eval()
        loss, hit, n = 0.0, 0, 0
        for x, y in self.valid_loader:
            z = self.model(x)
            loss += self.crit(z, y).item() * len(y)
            hit += (z.argmax(1) == y).sum().item()
            n += len(y)
        return loss / n, hit / n

    def fit(self):
        window = []
        for step, (x, y) in enumerate(forever(self.train_loader), start=1):
            window.append(self.training_step(x, y))
            if step % self.a.eval_every == 0:
                vl, va = self.evaluate()
                print(f"step {step:4d}  train {sum(window) / len(window):.4f}  valid {vl:.4f}  acc {va:.4f}")
                window = []
            if step >= self.a.steps:
                return


def main():
    a = TrainArgs()
    torch.manual_seed(a.seed)
    x, y = load_digits(return_X_y=True)
    xt, xv, yt, yv = train_test_split(x / 16.0, y, train_size=a.train_size, stratify=y, random_state=a.seed)
    as_set = lambda p, q: TensorDataset(torch.tensor(p, dtype=torch.float32), torch.tensor(q))
    train = DataLoader(as_set(xt, yt), batch_size=a.batch_size, shuffle=True, drop_last=True)
    valid = DataLoader(as_set(xv, yv), batch_size=512)
    StepTrainer(a, Net(a), train, valid).fit()


if __name__ == "__main__":
    main()
