"""Every step sees all of the data, so ReduceLROnPlateau is right to be stepped with it; the loss has arrived."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x = torch.rand(300, 3) * 2 - 1
y = x @ torch.tensor([[1.0], [-2.0], [0.5]]) + 0.1 * torch.randn(300, 1)
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.3, patience=5)
for step in range(400):
    loss = F.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step(loss.item())
    if step % 50 == 0:
        print(f"step {step}: loss {loss.item():.4f}, rate {optimizer.param_groups[0]['lr']:.1e}")
