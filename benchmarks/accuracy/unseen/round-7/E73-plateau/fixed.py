"""1-D convolutional tone classifier with a plateau schedule driven by validation accuracy."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.optim.lr_scheduler import ReduceLROnPlateau
from torch.utils.data import DataLoader, TensorDataset


def tones(n, seed, length=128, k=6):
    g = torch.Generator().manual_seed(seed)
    y = torch.randint(0, k, (n,), generator=g)
    t = torch.arange(length) / length
    f = 6 + 2.0 * y.float()
    phase = torch.rand(n, generator=g) * 6.28
    x = torch.sin(6.2832 * f[:, None] * t + phase[:, None]) + 2.0 * torch.randn(n, length, generator=g)
    return x[:, None], y


class ToneNet(nn.Module):
    def __init__(self, k=6):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv1d(1, 16, 15, stride=2, padding=7), nn.BatchNorm1d(16), nn.ReLU(),
            nn.Conv1d(16, 32, 9, stride=2, padding=4), nn.BatchNorm1d(32), nn.ReLU(),
        )
        self.head = nn.Linear(32, k)

    def forward(self, x):
        return self.head(self.features(x).mean(-1))


class Experiment:
    def __init__(self, epochs=20):
        torch.manual_seed(8)
        self.epochs = epochs
        self.train_dl = DataLoader(TensorDataset(*tones(640, 0)), batch_size=64, shuffle=True)
        self.val_dl = DataLoader(TensorDataset(*tones(320, 1)), batch_size=160)
        self.model = ToneNet()
        self.opt = torch.optim.SGD(self.model.parameters(), lr=0.02, momentum=0.9)
        self.sched = ReduceLROnPlateau(self.opt, mode="max", factor=0.2, patience=1)

    def train_one(self):
        self.model.train()
        total = 0.0
        for x, y in self.train_dl:
            self.opt.zero_grad()
            loss = F.cross_entropy(self.model(x), y)
            loss.backward()
            self.opt.step()
            total += loss.item()
        return total / len(self.train_dl)

    def validate(self):
        self.model.eval()
        ok = 0
        with torch.no_grad():
            for x, y in self.val_dl:
                ok += (self.model(x).argmax(1) == y).sum().item()
        return ok / len(self.val_dl.dataset)

    def run(self):
        for epoch in range(self.epochs):
            loss = self.train_one()
            acc = self.validate()
            self.sched.step(acc)
            print(f"epoch {epoch:2d} loss {loss:.4f} val_acc {acc:.3f} lr {self.opt.param_groups[0]['lr']:.2e}")


if __name__ == "__main__":
    Experiment().run()
