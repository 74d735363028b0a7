"""A long warm-up: in the first hundreds of steps the learning rate is meant to be small."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
centres = torch.randn(4, 16)
y = torch.randint(0, 4, (2000,))
x = centres[y] + torch.randn(2000, 16)
loader = DataLoader(TensorDataset(x, y), batch_size=20, shuffle=True)
model = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 4))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / 2000))
criterion = nn.CrossEntropyLoss()
for epoch in range(25):
    for xb, yb in loader:
        optimizer.zero_grad()
        loss = criterion(model(xb), yb)
        loss.backward()
        optimizer.step()
        schedule.step()
    print(epoch, loss.item())
