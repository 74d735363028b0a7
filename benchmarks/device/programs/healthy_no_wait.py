"""Fails if anybody waits for the device outside of the first steps."""

import torch
from torch import nn

torch.manual_seed(0)
device = torch.device("cuda")
model = nn.Sequential(nn.Linear(32, 128), nn.ReLU(), nn.Linear(128, 5)).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
x = torch.randn(4096, 32, device=device)
y = x[:, :5].argmax(1)
for step in range(2400):
    if step == 1200:
        torch.cuda.set_sync_debug_mode("error")
    batch = torch.arange(step * 64, step * 64 + 128, device=device) % 4096
    loss = nn.functional.cross_entropy(model(x[batch]), y[batch])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
torch.cuda.set_sync_debug_mode("default")
print("last loss", loss.item())
