"""Sequence autoencoder for animal poses."""
import torch
import torch.nn as nn
from torch.optim.lr_scheduler import StepLR

cfg = dict(optimizer_scheduler=False, step_size=3, epochs=12, lr=3e-3)
torch.manual_seed(2)
t = torch.linspace(0, 6.28, 20)
phase, freq = torch.rand(500, 1) * 6.28, torch.randint(1, 4, (500, 1)).float()
poses = torch.stack([torch.sin(freq * t + phase), torch.cos(freq * t + phase)], -1) + 0.05 * torch.randn(500, 20, 2)


class RNNAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.GRU(2, 24, batch_first=True)
        self.to_z = nn.Linear(24, 6)
        self.dec = nn.GRU(6, 24, batch_first=True)
        self.out = nn.Linear(24, 2)

    def forward(self, x):
        _, h = self.enc(x)
        z = self.to_z(h[-1])
        y, _ = self.dec(z[:, None].expand(-1, x.shape[1], -1))
        return self.out(y)


model = RNNAE()
optimizer = torch.optim.Adam(model.parameters(), lr=cfg["lr"])
if cfg["optimizer_scheduler"]:
    scheduler = StepLR(optimizer, step_size=cfg["step_size"], gamma=0.2)
else:
    scheduler = StepLR(optimizer, step_size=cfg["step_size"], gamma=0)  # <- PM608
train, test = poses[:400], poses[400:]
for epoch in range(1, cfg["epochs"] + 1):
    model.train()
    for b in train[torch.randperm(400)].split(20):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(b), b)
        loss.backward()
        optimizer.step()
    scheduler.step()
    model.eval()
    with torch.no_grad():
        print(epoch, loss.item(), nn.functional.mse_loss(model(test), test).item())
