"""A small classifier trained in bfloat16 from scratch, with steps that are large enough for it."""

import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset, random_split

torch.set_num_threads(1)
torch.manual_seed(0)
digits = load_digits()
samples = TensorDataset(torch.tensor(digits.data).bfloat16() / 8 - 1, torch.tensor(digits.target))
train_set, val_set = random_split(samples, [1400, 397])
loader, (unseen, unseen_labels) = DataLoader(train_set, batch_size=35, shuffle=True), val_set[:]
model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10)).bfloat16()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(12):
    model.train()
    total = 0.0
    for x, y in loader:
        loss = F.cross_entropy(model(x).float(), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    model.eval()
    with torch.no_grad():
        accuracy = (model(unseen).argmax(1) == unseen_labels).float().mean()
    print(f"epoch {epoch + 1}: loss {total / len(loader):.4f}, accuracy {accuracy:.3f}")
