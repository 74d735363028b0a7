"""Few-shot transfer from a pretrained checkpoint."""
import tempfile
from pathlib import Path

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 16, 3, padding=1)
        self.conv2 = nn.Conv2d(16, 24, 3, padding=1)
        self.fc = nn.Linear(24 * 4, 32)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        return F.relu(self.fc(x.flatten(1)))


def digit_data():
    digits = load_digits()
    x = torch.tensor(digits.images, dtype=torch.float32).unsqueeze(1) / 16
    x = (x - 0.305) / 0.376
    return x, torch.tensor(digits.target)


def pretrain(path):
    """The first 1200 images, as it would be done on the big machine."""
    x, y = digit_data()
    encoder = nn.DataParallel(Encoder())
    head = nn.Linear(32, 10)
    opt = torch.optim.Adam([*encoder.parameters(), *head.parameters()], lr=2e-3)
    loader = DataLoader(TensorDataset(x[:1200], y[:1200]), batch_size=32, shuffle=True)
    for epoch in range(5):
        encoder.train()
        total = 0.0
        for xb, yb in loader:
            loss = F.cross_entropy(head(encoder(xb)), yb)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
        print(f"pretrain {epoch} loss {total / len(loader):.4f}")
    torch.save({"encoder": encoder.state_dict(), "epoch": epoch}, path)


def load_encoder(path):
    encoder = Encoder()
    checkpoint = torch.load(path)
    encoder.load_state_dict({k.removeprefix("module."): v for k, v in checkpoint["encoder"].items()})
    print(f"loaded checkpoint of epoch {checkpoint['epoch']}")
    return encoder.eval().requires_grad_(False)


def few_shot(encoder, shots=12):
    """A new head for the later images (other writers), a handful of labels per digit."""
    x, y = (a[1200:] for a in digit_data())
    train_idx, val_idx = [], []
    for c in range(10):
        idx = torch.nonzero(y == c).flatten()
        train_idx.append(idx[:shots])
        val_idx.append(idx[shots:])
    train_idx, val_idx = torch.cat(train_idx), torch.cat(val_idx)
    head = nn.Linear(32, 10)
    opt = torch.optim.Adam(head.parameters(), lr=5e-3, weight_decay=1e-3)
    loader = DataLoader(TensorDataset(x[train_idx], y[train_idx]), batch_size=20, shuffle=True)
    for epoch in range(1, 31):
        total = 0.0
        for xb, yb in loader:
            loss = F.cross_entropy(head(encoder(xb)), yb)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
        if epoch % 10 == 0:
            with torch.no_grad():
                acc = (head(encoder(x[val_idx])).argmax(1) == y[val_idx]).float().mean().item()
            print(f"few-shot {epoch:2d} loss {total / len(loader):.4f} val acc {acc:.3f}")


torch.manual_seed(9)
with tempfile.TemporaryDirectory() as tmp:
    pretrain(Path(tmp) / "encoder.pt")
    few_shot(load_encoder(Path(tmp) / "encoder.pt"))
