"""Warm-up schedules are printed with a stand-in optimizer that never sees a gradient; then a model is trained with one of them."""

import torch
import torch.nn.functional as F
from sklearn.datasets import load_wine
from torch import nn
from torch.optim.lr_scheduler import LambdaLR
from torch.utils.data import DataLoader, TensorDataset, random_split

torch.set_num_threads(1)
torch.manual_seed(11)


def rate(step, warmup):
    step = max(step, 1)
    return min(step**-0.5, step * warmup**-1.5) * warmup**0.5


def preview(warmup, steps=300):
    stand_in = nn.Linear(1, 1)
    optimizer = torch.optim.SGD(stand_in.parameters(), lr=1.0)
    scheduler = LambdaLR(optimizer, lambda step: rate(step, warmup))
    rates = []
    for _ in range(steps):
        rates.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        scheduler.step()
    return rates


for warmup in (20, 60, 120):
    curve = preview(warmup)
    print(f"warmup {warmup:3d}: " + " ".join(f"{value:.2f}" for value in curve[::50]))

wine = load_wine()
inputs = torch.tensor(wine.data, dtype=torch.float32)
inputs = (inputs - inputs.mean(0)) / inputs.std(0)
data = TensorDataset(inputs, torch.tensor(wine.target))
train, val = random_split(data, [140, len(data) - 140])
model = nn.Sequential(nn.Linear(13, 32), nn.ReLU(), nn.Dropout(0.2), nn.Linear(32, 3))
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
scheduler = LambdaLR(optimizer, lambda step: rate(step, 20))
for epoch in range(20):
    model.train()
    for x, y in DataLoader(train, batch_size=20, shuffle=True):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        scheduler.step()
    model.eval()
    with torch.no_grad():
        right = sum((model(x).argmax(1) == y).sum().item() for x, y in DataLoader(val, batch_size=38))
    if epoch % 5 == 4:
        print(f"epoch {epoch + 1} loss {loss.item():.3f} accuracy {right / len(val):.2f}")
