"""House-price style regression, trained in two jobs: the second job continues from the checkpoint of the first."""
import os
import tempfile

import torch
from sklearn.datasets import make_friedman1
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

EPOCHS, MILESTONES = 24, [10, 18]


def loaders(seed=21):
    x, y = make_friedman1(n_samples=2500, n_features=10, noise=1.0, random_state=seed)
    x = torch.tensor(x, dtype=torch.float32) * 2 - 1
    y = torch.tensor(y, dtype=torch.float32)
    y = (y - y[:2000].mean()) / y[:2000].std()
    train = TensorDataset(x[:2000], y[:2000])
    val = TensorDataset(x[2000:], y[2000:])
    return DataLoader(train, batch_size=32, shuffle=True), DataLoader(val, batch_size=250)


class Regressor(nn.Module):
    def __init__(self, n_in=10, width=64):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(n_in, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh())
        self.out = nn.Linear(width, 1)

    def forward(self, x):
        return self.out(self.body(x)).squeeze(-1)


class Job:
    """One training job; knows how to write and read its own checkpoints."""

    def __init__(self, ckpt_path):
        self.path = ckpt_path
        self.model = Regressor()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1, momentum=0.9)
        self.scheduler = torch.optim.lr_scheduler.MultiStepLR(self.optimizer, MILESTONES, gamma=0.1)
        self.start_epoch = 0

    def save(self, epoch):
        torch.save({
            "epoch": epoch + 1,
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "scheduler": self.scheduler.state_dict(),
        }, self.path)

    def maybe_resume(self):
        if not os.path.exists(self.path):
            return
        ckpt = torch.load(self.path)
        self.model.load_state_dict(ckpt["model"])
        self.start_epoch = ckpt["epoch"]
        print(f"resumed {self.path.rsplit(os.sep, 1)[-1]} at epoch {self.start_epoch}")

    def run(self, train, val, until):
        self.maybe_resume()
        for epoch in range(self.start_epoch, until):
            self.model.train()
            total = seen = 0
            for x, y in train:
                self.optimizer.zero_grad()
                loss = nn.functional.mse_loss(self.model(x), y)
                loss.backward()
                self.optimizer.step()
                total += loss.item() * len(y)
                seen += len(y)
            self.scheduler.step()
            print(f"epoch {epoch:2d}  train mse {total / seen:.4f}  val mse {self.evaluate(val):.4f}")
            self.save(epoch)

    @torch.no_grad()
    def evaluate(self, loader):
        self.model.eval()
        se = n = 0
        for x, y in loader:
            se += nn.functional.mse_loss(self.model(x), y, reduction="sum").item()
            n += len(y)
        return se / n


def main():
    torch.manual_seed(21)
    train, val = loaders()
    with tempfile.TemporaryDirectory() as tmp:
        path = os.path.join(tmp, "last.pt")
        Job(path).run(train, val, until=14)
        Job(path).run(train, val, until=EPOCHS)


if __name__ == "__main__":
    main()
