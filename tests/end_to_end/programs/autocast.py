"""Mixed precision on the CPU: bfloat16 under autocast, a GradScaler, and clipping of unscaled gradients."""

import torch
from fingerprint import bits, finish
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(10, 32), nn.LayerNorm(32), nn.GELU(), nn.Dropout(0.1), nn.Linear(32, 4))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
scaler = torch.amp.GradScaler("cpu", init_scale=1024.0, growth_interval=10)
for _step in range(40):
    x = torch.randn(32, 10)
    y = x[:, :4].argmax(1)
    optimizer.zero_grad()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = nn.functional.cross_entropy(model(x), y)
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
    bits(loss)
print("scale", scaler.get_scale())
finish(model)
