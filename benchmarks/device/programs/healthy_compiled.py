"""A compiled model with a scheduler and an evaluation."""

import torch
from torch import nn

torch.manual_seed(0)
device = torch.device("cuda")
model = nn.Sequential(nn.Linear(32, 128), nn.ReLU(), nn.Linear(128, 5)).to(device)
compiled = torch.compile(model)
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 300)
x = torch.randn(4096, 32, device=device)
y = x[:, :5].argmax(1)
for step in range(300):
    batch = torch.arange(step * 64, step * 64 + 128, device=device) % 3072
    loss = nn.functional.cross_entropy(compiled(x[batch]), y[batch])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    schedule.step()
model.eval()
with torch.no_grad():
    print("accuracy", (model(x[3072:]).argmax(1) == y[3072:]).float().mean().item())
