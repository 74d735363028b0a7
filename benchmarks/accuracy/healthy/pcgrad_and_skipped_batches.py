"""PCGrad with one backward per task and projected gradients; then training that skips batches with a huge gradient."""

import torch
from torch import nn
from torch.nn import functional as F

torch.set_num_threads(1)
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(10, 64), nn.ReLU(), nn.Linear(64, 3))
optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
params = list(net.parameters())


def tasks(n=64):
    x = torch.randn(n, 10)
    y = torch.stack([x[:, 0] + x[:, 1], x[:, 0] - x[:, 1], x[:, 2] * x[:, 3]], 1)
    out = net(x)
    return [F.mse_loss(out[:, i], y[:, i]) for i in range(3)]


def flat_gradient():
    return torch.cat([p.grad.flatten() for p in params])


for step in range(120):
    gradients = []
    losses = tasks()
    for loss in losses:
        optimizer.zero_grad()
        loss.backward(retain_graph=True)
        gradients.append(flat_gradient())
    total = torch.zeros_like(gradients[0])
    for i, g in enumerate(gradients):
        g = g.clone()
        for j, other in enumerate(gradients):
            dot = g @ other
            if i != j and dot < 0:
                g -= dot / other.norm() ** 2 * other
        total += g
    start = 0
    for p in params:
        p.grad = total[start : start + p.numel()].view_as(p).clone()
        start += p.numel()
    optimizer.step()
    if step % 30 == 0:
        print("pcgrad", step, [loss.item() for loss in losses])
assert sum(loss.item() for loss in losses) < 1.5

# one label in thirty is corrupt and gives a huge gradient: such batches are skipped
model = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
skipped = 0
for step in range(250):
    x = torch.randn(32, 10)
    y = x[:, :2].sum(1, keepdim=True)
    if torch.rand(()) < 0.08:
        y[0] = 1000.0
    optimizer.zero_grad()
    loss = F.mse_loss(model(x), y)
    loss.backward()
    norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 5.0)
    if norm > 50:
        skipped += 1
        optimizer.zero_grad()
        continue
    optimizer.step()
    if step % 50 == 0:
        print("robust", step, loss.item(), norm.item())
with torch.no_grad():
    x = torch.randn(500, 10)
    error = F.mse_loss(model(x), x[:, :2].sum(1, keepdim=True)).item()
print("skipped", skipped, "error", error)
assert error < 0.2
