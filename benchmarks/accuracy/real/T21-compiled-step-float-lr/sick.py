"""A compiled training step with a hand-written SGD update and a decaying learning rate."""
import math

import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(0)

x = torch.linspace(-2, 2, 256).unsqueeze(1)
y = torch.sin(3 * x)
model = nn.Sequential(nn.Linear(1, 32), nn.Tanh(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)


def objective(prediction, target, smoothing):
    error = prediction - target
    return (torch.sqrt(error.pow(2) + smoothing * smoothing) - smoothing).mean()


compiled_objective = torch.compile(objective, dynamic=False, backend="aot_eager")


def schedule(step, total):
    return 0.01 + 0.5 * (1 + math.cos(math.pi * step / total))


for step in range(120):
    smoothing = schedule(step, 120)  # <- PM705
    loss = compiled_objective(model(x), y, smoothing)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 0:
        print(f"step {step:3d} smoothing {float(smoothing):.3f} loss {loss.item():.4f}")

with torch.no_grad():
    print("final error", (model(x) - y).abs().mean().item())
