"""Speech-feature regressor, optimizer settings depend on the epoch."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def features(n):
    t = torch.linspace(0, 1, 30)
    pitch = 1 + 4 * torch.rand(n, 1)
    wave = torch.sin(6.28 * pitch * t) + 0.2 * torch.randn(n, 30)
    return wave, pitch / 5


def lr_for(epoch):
    return 2e-3 if epoch < 6 else 1e-3


def train_one_epoch(model, loader, epoch):
    total = 0.0
    for x, y in loader:
        optimizer = torch.optim.Adam(model.parameters(), lr=lr_for(epoch))  # <- PM609
        loss = nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    return total / len(loader)


torch.manual_seed(0)
loader = DataLoader(TensorDataset(*features(800)), batch_size=32, shuffle=True)
model = nn.Sequential(nn.Linear(30, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1))
for epoch in range(10):
    print(epoch, f"{train_one_epoch(model, loader, epoch):.5f}")
