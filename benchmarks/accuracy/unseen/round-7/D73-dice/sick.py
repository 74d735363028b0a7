"""Lesion-like segmentation with a BCE + Dice objective (rare foreground)."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


def phantom(n, seed, size=24):
    g = torch.Generator().manual_seed(seed)
    yy, xx = torch.meshgrid(torch.arange(size).float(), torch.arange(size).float(), indexing="ij")
    masks = []
    for _ in range(n):
        c = torch.rand(2, generator=g) * (size - 6) + 3
        r = 1.2 + torch.rand(1, generator=g) * 1.2
        masks.append(((yy - c[0]) ** 2 + (xx - c[1]) ** 2 < r ** 2).float())
    m = torch.stack(masks)[:, None]
    blur = F.avg_pool2d(m, 3, 1, 1)
    img = 1.1 * blur + 0.45 * torch.randn(m.shape, generator=g)
    return TensorDataset(img, m)


class DiceBCELoss(nn.Module):
    def __init__(self, bce_weight=0.05, smooth=1.0):
        super().__init__()
        self.bce_weight = bce_weight
        self.smooth = smooth

    def forward(self, logits, target):
        bce = F.binary_cross_entropy_with_logits(logits, target)
        pred = (torch.sigmoid(logits) > 0.5).float()
        inter = (pred * target).sum(dim=(1, 2, 3))
        union = pred.sum(dim=(1, 2, 3)) + target.sum(dim=(1, 2, 3))
        dice = 1 - (2 * inter + self.smooth) / (union + self.smooth)
        return self.bce_weight * bce + dice.mean(), bce.detach(), dice.mean().detach()


class SegNet(nn.Module):
    def __init__(self, c=12):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(1, c, 5, padding=2), nn.ReLU(),
            nn.Conv2d(c, c, 3, padding=1), nn.ReLU(),
            nn.Conv2d(c, 1, 1),
        )

    def forward(self, x):
        return self.net(x)


@torch.no_grad()
def dice_score(model, loader):
    model.eval()
    inter = total = 0.0
    for img, m in loader:
        p = (model(img) > 0).float()
        inter += (p * m).sum().item()
        total += (p.sum() + m.sum()).item()
    return 2 * inter / max(total, 1.0)


if __name__ == "__main__":
    torch.manual_seed(3)
    train_dl = DataLoader(phantom(320, 0), batch_size=16, shuffle=True)
    val_dl = DataLoader(phantom(80, 1), batch_size=40)
    model = SegNet()
    crit = DiceBCELoss()
    opt = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    for epoch in range(8):
        model.train()
        b = d = 0.0
        for img, m in train_dl:
            loss, bce, dice = crit(model(img), m)
            opt.zero_grad()
            loss.backward()
            opt.step()
            b += bce.item()
            d += dice.item()
        print(f"epoch {epoch}: bce {b / len(train_dl):.4f} dice loss {d / len(train_dl):.4f} "
              f"val dice {dice_score(model, val_dl):.3f}")
