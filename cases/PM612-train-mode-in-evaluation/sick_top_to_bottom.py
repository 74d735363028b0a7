"""Classes of four-dimensional readings; the test loop of a script that was written top to bottom."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(1)
torch.manual_seed(0)
mix = torch.randn(10, 4)


def readings(count: int) -> TensorDataset:
    x = torch.randn(count, 10)
    return TensorDataset(x, (x @ mix + 0.5 * torch.randn(count, 4)).argmax(1))


train_loader = DataLoader(readings(640), batch_size=32, shuffle=True)
test_loader = DataLoader(readings(320), batch_size=32)
model = nn.Sequential(nn.Linear(10, 64, bias=False), nn.BatchNorm1d(64), nn.ReLU(), nn.Dropout(0.3), nn.Linear(64, 4))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(6):
    for x, y in train_loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
    right = 0
    for x, y in test_loader:
        right += (model(x).argmax(1) == y).sum().item()  # <- PM612
    print(f"epoch {epoch}: loss {loss.item():.3f}  test accuracy {right / 320:.3f}")
