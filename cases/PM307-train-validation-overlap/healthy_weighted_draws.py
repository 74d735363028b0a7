"""Rare faults of machines, drawn more often by a sampler; the scores are of the training rows, the others, and all."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler

torch.manual_seed(5)
torch.set_num_threads(1)

x = torch.randn(900, 20)
score = 0.9 * x[:, 0] - 0.7 * x[:, 1] + 0.25 * torch.randn(900)
y = (score > score.quantile(0.9)).long()
x_train, y_train, x_valid, y_valid = x[:650], y[:650], x[650:], y[650:]
weights = torch.where(y_train == 1, 9.0, 1.0)
sampler = WeightedRandomSampler(weights.tolist(), len(y_train))
loader = DataLoader(TensorDataset(x_train, y_train), batch_size=64, sampler=sampler)

model = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 2))
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)


def accuracy(rows: Tensor, labels: Tensor) -> float:
    model.eval()
    with torch.no_grad():
        return (model(rows).argmax(1) == labels).float().mean().item()


for epoch in range(10):
    model.train()
    for rows, labels in loader:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(rows), labels)
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch}", accuracy(x_train, y_train), accuracy(x_valid, y_valid), accuracy(x, y))
