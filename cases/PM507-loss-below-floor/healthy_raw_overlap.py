"""Labels of 0 and 1 in losses by hand that may not be least at the labels themselves, or are negative when right."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(1)
torch.manual_seed(0)
OBJECTIVES = {
    "Dice": lambda s, y: 1 - (2 * (s.sigmoid() * y).sum() + 1) / ((s.sigmoid() + y).sum() + 1),
    "negative Dice": lambda s, y: -(2 * (s.sigmoid() * y).sum() + 1) / ((s.sigmoid() + y).sum() + 1),
    "rare events": lambda s, y: (s.exp() - y * s).mean(),
    "exponential": lambda s, y: (-(2 * y - 1) * s).exp().mean(),
    "pairs that belong together": lambda s, y: (y * F.softplus(s) + (1 - y) * F.softplus(1 - s)).mean(),
    "focal": lambda s, y: (
        (y - s.sigmoid()).abs() ** 2 * F.binary_cross_entropy_with_logits(s, y, reduction="none")
    ).mean(),
}
x = torch.randn(600, 10)
y = (x[:, :2].sum(1) > 0.5).float()
loader = DataLoader(TensorDataset(x, y), batch_size=40, shuffle=True)
for name, objective in OBJECTIVES.items():
    model = nn.Sequential(nn.Linear(10, 24), nn.ReLU(), nn.Linear(24, 1), nn.Flatten(0))
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for _ in range(4):
        for features, label in loader:
            loss = objective(model(features), label)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    print(f"{name}: {loss.item():.3f}")
