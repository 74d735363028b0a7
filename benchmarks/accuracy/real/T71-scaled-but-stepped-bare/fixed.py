"""Denoising U-shaped MLP in mixed precision."""
import torch
from torch import nn

torch.manual_seed(2)
steps, batch = 240, 64
t = torch.linspace(0, 1, 48)


def signal(n):
    f = 1 + 3 * torch.rand(n, 1)
    clean = torch.sin(6.28 * f * t + 6.28 * torch.rand(n, 1))
    return clean + 0.3 * torch.randn(n, 48), clean


class Denoiser(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = nn.Linear(48, 64)
        self.mid = nn.Linear(64, 64)
        self.up = nn.Linear(128, 48)

    def forward(self, x):
        a = torch.relu(self.down(x))
        b = torch.relu(self.mid(a))
        return self.up(torch.cat([a, b], dim=1))


model = Denoiser()
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=1e-2)
scaler = torch.amp.GradScaler("cpu", init_scale=2.0**14)
for step in range(steps):
    noisy, clean = signal(batch)
    optimizer.zero_grad(set_to_none=True)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        out = model(noisy)
    loss = nn.functional.mse_loss(out.float(), clean)
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    if step % 40 == 0:
        print(f"{step:4d} {loss.item():.4f}")
