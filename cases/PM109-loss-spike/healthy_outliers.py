"""Loads of a machine from its sensors; one reading in fifty is far off, and clipped gradients keep that harmless."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(3)
torch.set_num_threads(1)


def readings(n: int, off: float) -> tuple[Tensor, Tensor]:
    x = torch.randn(n, 12)
    y = (x[:, :4].sum(1) + 0.5 * x[:, 4] * x[:, 5]).unsqueeze(1)
    bad = torch.rand(n) < off
    y[bad] += 25 * torch.randn(int(bad.sum()), 1)
    return x, y


loader = DataLoader(TensorDataset(*readings(2000, off=0.02)), batch_size=25, shuffle=True)
x_valid, y_valid = readings(500, off=0.0)
model = nn.Sequential(nn.Linear(12, 48), nn.ReLU(), nn.Linear(48, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
for epoch in range(8):
    model.train()
    for x, y in loader:
        loss = F.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    model.eval()
    with torch.no_grad():
        print(f"epoch {epoch}  loss {loss.item():.3f}  valid mse {F.mse_loss(model(x_valid), y_valid).item():.4f}")
