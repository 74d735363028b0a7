"""Mixed-up batches are trained on, and the loss of the batch as it was is computed beside it, for the log alone."""

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(1)
torch.manual_seed(12)
digits = load_digits()
inputs, labels = torch.tensor(digits.data, dtype=torch.float32) / 16, torch.tensor(digits.target)
train_loader = DataLoader(TensorDataset(inputs[:1400], labels[:1400]), batch_size=50, shuffle=True)
val_loader = DataLoader(TensorDataset(inputs[1400:], labels[1400:]), batch_size=100)
model = nn.Sequential(nn.Linear(64, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Dropout(0.3), nn.Linear(64, 10))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(6):
    model.train()
    for x, y in train_loader:
        share = torch.distributions.Beta(0.4, 0.4).sample()
        other = torch.randperm(len(x))
        scores = model(share * x + (1 - share) * x[other])
        loss = share * F.cross_entropy(scores, y) + (1 - share) * F.cross_entropy(scores, y[other])
        plain = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        right = sum((model(x).argmax(1) == y).sum().item() for x, y in val_loader)
    print(f"epoch {epoch} mixed {loss.item():.3f} plain {plain.item():.3f} accuracy {right / 397:.3f}")
