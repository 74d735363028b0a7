"""Pretraining-style loop: accumulation and a one-cycle schedule."""
import torch
from torch import nn
from torch.optim.lr_scheduler import LinearLR

torch.manual_seed(4)
ACCUMULATE, UPDATES = 8, 60
model = nn.Sequential(nn.Linear(24, 64), nn.GELU(), nn.Linear(64, 24))
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
scheduler = LinearLR(optimizer, start_factor=1.0, end_factor=0.001, total_iters=UPDATES)
basis = torch.randn(4, 24)


def masked_batch(n=16):
    x = torch.randn(n, 4) @ basis
    keep = (torch.rand(n, 24) > 0.3).float()
    return x * keep, x


micro, total = 0, 0.0
optimizer.zero_grad()
while micro < ACCUMULATE * UPDATES:
    given, wanted = masked_batch()
    loss = nn.functional.mse_loss(model(given), wanted) / ACCUMULATE
    loss.backward()
    total += loss.item()
    micro += 1
    scheduler.step()  # <- PM608
    if micro % ACCUMULATE == 0:
        optimizer.step()
        optimizer.zero_grad()
        if micro % (10 * ACCUMULATE) == 0:
            print(micro // ACCUMULATE, f"{total / 10:.4f}", f"{optimizer.param_groups[0]['lr']:.2e}")
            total = 0.0
