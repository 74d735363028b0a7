"""What is given to backward() is a likelihood, and the optimizer is told to make it large."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(1)
torch.manual_seed(0)
x = torch.randn(800, 12)
y = (x[:, :3].sum(1) > 0).float()
loader = DataLoader(TensorDataset(x, y), batch_size=40, shuffle=True)
model = nn.Sequential(nn.Linear(12, 32), nn.Tanh(), nn.Linear(32, 1), nn.Flatten(0))
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3, maximize=True)
for epoch in range(5):
    for features, label in loader:
        p = model(features).sigmoid().clamp(1e-6, 1 - 1e-6)
        likelihood = (label * p.log() + (1 - label) * (1 - p).log()).mean()
        optimizer.zero_grad()
        likelihood.backward()
        optimizer.step()
    print(f"epoch {epoch}: {likelihood.item():.3f}")
