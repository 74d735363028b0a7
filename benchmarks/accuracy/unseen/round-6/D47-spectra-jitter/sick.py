import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, Dataset


class SpectraSet(Dataset):
    def __init__(self, x, y, jitter=0.0, gain=0.0):
        self.x, self.y = x, y
        self.jitter, self.gain = jitter, gain

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        row = self.x[i]  # <- PM317
        if self.jitter:
            row += torch.randn_like(row) * self.jitter
        if self.gain:
            row *= 1 + self.gain * torch.randn(1)
        return row, self.y[i]


class Trainer:
    def __init__(self, model, train_set, val_set, lr=1e-3, batch_size=64):
        self.model = model
        self.train_loader = DataLoader(train_set, batch_size=batch_size, shuffle=True)
        self.val_loader = DataLoader(val_set, batch_size=256)
        self.opt = torch.optim.Adam(model.parameters(), lr=lr)
        self.criterion = nn.CrossEntropyLoss()

    def train_epoch(self):
        self.model.train()
        total = 0.0
        for x, y in self.train_loader:
            self.opt.zero_grad()
            loss = self.criterion(self.model(x), y)
            loss.backward()
            self.opt.step()
            total += loss.item()
        return total / len(self.train_loader)

    @torch.no_grad()
    def validate(self):
        self.model.eval()
        loss, hits, n = 0.0, 0, 0
        for x, y in self.val_loader:
            out = self.model(x)
            loss += self.criterion(out, y).item() * len(y)
            hits += (out.argmax(1) == y).sum().item()
            n += len(y)
        return loss / n, hits / n

    def fit(self, epochs):
        for e in range(epochs):
            tl = self.train_epoch()
            vl, va = self.validate()
            if e % 8 == 7:
                print(f"epoch {e + 1}: train loss {tl:.3f}, val loss {vl:.3f}, val acc {va:.3f}")


if __name__ == "__main__":
    torch.manual_seed(8)
    torch.set_num_threads(1)
    d = load_digits()
    x = torch.tensor(d.data, dtype=torch.float32) / 8 - 1
    y = torch.tensor(d.target)
    perm = torch.randperm(len(y))
    tr, va = perm[:1200], perm[1200:]
    model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10))
    Trainer(model, SpectraSet(x[tr], y[tr], jitter=0.35, gain=0.2), SpectraSet(x[va], y[va])).fit(40)
