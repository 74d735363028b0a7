"""Half precision with a loss scaler, accumulation and clipping."""

import torch
from torch import nn

torch.manual_seed(0)
device = torch.device("cuda")
model = nn.Sequential(nn.Linear(32, 256), nn.GELU(), nn.LayerNorm(256), nn.Linear(256, 5)).to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
scaler = torch.amp.GradScaler("cuda")
x = torch.randn(4096, 32, device=device)
y = x[:, :5].argmax(1)
for step in range(600):
    batch = torch.randint(0, 4096, (128,), device=device)
    with torch.autocast("cuda", torch.float16):
        loss = nn.functional.cross_entropy(model(x[batch]), y[batch]) / 2
    scaler.scale(loss).backward()
    if step % 2:
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad(set_to_none=True)
    if step % 200 == 199:
        print(step, round(loss.item(), 4))
