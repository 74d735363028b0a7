"""Digits placed on a 14x14 canvas; training crops are jittered, validation crops come pre-jittered from disk."""
import copy
import numpy as np
import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, Dataset, random_split

torch.set_num_threads(1)
torch.manual_seed(0)
np.random.seed(0)


class Jitter:
    def __init__(self, amount):
        self.amount = amount

    def __call__(self, img):
        dy, dx = np.random.randint(-self.amount, self.amount + 1, 2)
        return torch.roll(img, (int(dy), int(dx)), (1, 2))


class CanvasDigits(Dataset):
    def __init__(self, transform=None):
        d = load_digits()
        self.images = torch.zeros(len(d.target), 1, 14, 14)
        self.images[:, 0, 3:11, 3:11] = torch.tensor(d.images, dtype=torch.float32) / 16
        self.labels = torch.tensor(d.target)
        self.transform = transform

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        img = self.images[i]
        if self.transform is not None:
            img = self.transform(img)
        return img, self.labels[i]


full = CanvasDigits(transform=Jitter(3))
train_set, val_set = random_split(full, [1300, 497], generator=torch.Generator().manual_seed(0))
fixed_jitter = torch.stack([val_set[i][0] for i in range(len(val_set))])
val_set.dataset = copy.copy(full)
val_set.dataset.transform = None
val_set.dataset.images = full.images.clone()
val_set.dataset.images[val_set.indices] = fixed_jitter

train_loader = DataLoader(train_set, batch_size=50, shuffle=True)
val_loader = DataLoader(val_set, batch_size=250)

net = nn.Sequential(
    nn.Conv2d(1, 12, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(12, 24, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
    nn.Flatten(), nn.Linear(24 * 9, 64), nn.ReLU(), nn.Linear(64, 10))
opt = torch.optim.Adam(net.parameters(), lr=4e-3)
ce = nn.CrossEntropyLoss()

for epoch in range(22):
    net.train()
    s = c = 0
    for img, lab in train_loader:
        out = net(img)
        loss = ce(out, lab)
        opt.zero_grad()
        loss.backward()
        opt.step()
        s += loss.item() * len(lab)
        c += (out.argmax(1) == lab).sum().item()
    net.eval()
    vs = vc = 0
    with torch.no_grad():
        for img, lab in val_loader:
            out = net(img)
            vs += ce(out, lab).item() * len(lab)
            vc += (out.argmax(1) == lab).sum().item()
    print(f"{epoch}: train {s / 1300:.4f} ({c / 1300:.3f})  val {vs / 497:.4f} ({vc / 497:.3f})")
