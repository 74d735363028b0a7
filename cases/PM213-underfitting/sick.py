"""Digit recognition for a tiny device."""

import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split

torch.set_num_threads(1)
torch.manual_seed(0)

digits = load_digits()
images = torch.tensor(digits.data, dtype=torch.float32) / 8 - 1
dataset = TensorDataset(images, torch.tensor(digits.target))
train_set, val_set = random_split(dataset, [1400, 397])
train_loader = DataLoader(train_set, batch_size=28, shuffle=True)
val_loader = DataLoader(val_set, batch_size=397)

model = nn.Sequential(
    nn.Linear(64, 1),
    nn.Tanh(),
    nn.Linear(1, 32),
    nn.Tanh(),
    nn.Linear(32, 10),
)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)

for epoch in range(1, 11):
    model.train()
    total, hits = 0.0, 0
    for x, y in train_loader:
        logits = model(x)
        loss = criterion(logits, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(y)
        hits += (logits.argmax(dim=1) == y).sum().item()

    model.eval()
    val_total, val_hits = 0.0, 0
    with torch.no_grad():
        for x, y in val_loader:
            logits = model(x)
            val_total += criterion(logits, y).item() * len(y)
            val_hits += (logits.argmax(dim=1) == y).sum().item()
    if epoch % 2 == 0:
        print(
            f"epoch {epoch:2d}  train loss {total / len(train_set):.3f} accuracy {hits / len(train_set):.3f}  "
            f"val loss {val_total / len(val_set):.3f} accuracy {val_hits / len(val_set):.3f}"
        )
