"""Binary segmentation with a Dice loss."""
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
m = (torch.rand(400, 1, 4, 4) > 0.6).float().repeat_interleave(4, 2).repeat_interleave(4, 3)
x = m * 0.8 + 0.5 * torch.randn(400, 1, 16, 16)


class DiceLoss(nn.Module):
    def forward(self, logits, target, smooth=1.0):
        p = torch.sigmoid(logits).flatten(1)
        t = target.flatten(1)
        inter = (p * t).sum(1)
        dice = (2 * inter + smooth) / (p.sum(1) + t.sum(1) + smooth)
        return dice.mean()  # <- PM516


net = nn.Sequential(nn.Conv2d(1, 12, 3, padding=1), nn.ReLU(), nn.Conv2d(12, 12, 3, padding=1), nn.ReLU(), nn.Conv2d(12, 1, 1))
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
crit = DiceLoss()
train = DataLoader(TensorDataset(x[:320], m[:320]), batch_size=20, shuffle=True)
val = DataLoader(TensorDataset(x[320:], m[320:]), batch_size=20)
for epoch in range(6):
    net.train()
    for a, b in train:
        opt.zero_grad()
        loss = crit(net(a), b)
        loss.backward()
        opt.step()
    net.eval()
    with torch.no_grad():
        acc = sum(((net(a) > 0).float() == b).float().mean().item() for a, b in val) / len(val)
    print(epoch, loss.item(), acc)
