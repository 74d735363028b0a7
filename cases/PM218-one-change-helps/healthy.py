"""A deep network with an initialisation of its own, scaled to its layers."""
# needs: experiments

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
centres = torch.randn(4, 16)
y = torch.randint(0, 4, (2000,))
x = 1.2 * centres[y] + torch.randn(2000, 16)
loader = DataLoader(TensorDataset(x, y), batch_size=32, shuffle=True)
layers = [part for _ in range(4) for part in (nn.Linear(32, 32), nn.Tanh())]
model = nn.Sequential(nn.Linear(16, 32), nn.Tanh(), *layers, nn.Linear(32, 4))
for layer in model:
    if isinstance(layer, nn.Linear):
        nn.init.normal_(layer.weight, std=layer.in_features**-0.5)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
criterion = nn.CrossEntropyLoss()
for epoch in range(10):
    for xb, yb in loader:
        optimizer.zero_grad()
        loss = criterion(model(xb), yb)
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
