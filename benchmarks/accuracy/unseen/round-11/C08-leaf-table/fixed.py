import numpy as np
import pandas as pd
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.set_num_threads(1)
rng = np.random.default_rng(2024)
torch.manual_seed(2024)

SPECIES = ["oak", "birch", "maple", "beech", "ash", "elm"]


def leaf_table(n, seed):
    r = np.random.default_rng(seed)
    centre = np.random.default_rng(1).normal(0, 1.3, (len(SPECIES), 9))
    k = r.integers(0, len(SPECIES), n)
    frame = pd.DataFrame(centre[k] + r.normal(0, 0.9, (n, 9)), columns=[f"m{i}" for i in range(9)])
    frame["site"] = r.choice(["north", "south", "river"], n)
    frame["species"] = np.array(SPECIES)[k]
    return frame


class LeafDataset(Dataset):
    """Reads a csv-like table; `mean`/`std` come from the training table."""

    def __init__(self, table, mean=None, std=None, classes=None):
        num = table.filter(like="m").to_numpy(np.float32)
        self.mean = num.mean(0) if mean is None else mean
        self.std = num.std(0) if std is None else std
        site = pd.get_dummies(table["site"]).to_numpy(np.float32)
        self.x = torch.from_numpy(np.concatenate([(num - self.mean) / self.std, site], 1))
        codes, names = pd.factorize(table["species"], sort=True)
        self.y = torch.from_numpy(codes.astype(np.int64))
        self.classes = list(names)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


train = LeafDataset(leaf_table(3000, 10))
valid = LeafDataset(leaf_table(800, 11), train.mean, train.std)
print(len(train), "training rows,", len(valid), "validation rows,", len(train.classes), "species")
train_loader = DataLoader(train, batch_size=64, shuffle=True)
valid_loader = DataLoader(valid, batch_size=200)

model = nn.Sequential(nn.Linear(12, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Dropout(0.2), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, len(train.classes)))
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
loss_fn = nn.CrossEntropyLoss()


def run_epoch(loader, training):
    model.train(training)
    loss_sum = hits = n = 0
    with torch.set_grad_enabled(training):
        for x, y in loader:
            out = model(x)
            loss = loss_fn(out, y)
            if training:
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            loss_sum += loss.item() * len(y)
            hits += (out.argmax(1) == y).sum().item()
            n += len(y)
    return loss_sum / n, hits / n


for epoch in range(1, 9):
    a = run_epoch(train_loader, True)
    b = run_epoch(valid_loader, False)
    print(f"epoch {epoch}: train loss {a[0]:.3f} acc {a[1]:.3f}   valid loss {b[0]:.3f} acc {b[1]:.3f}")
