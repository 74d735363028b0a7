"""Train a small U-Net on a folder of cell images and masks."""
import os
import tempfile

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader

from data import CellDataset, frame_number, write_folder


def conv(i, o):
    return nn.Sequential(nn.Conv2d(i, o, 3, padding=1, bias=False), nn.BatchNorm2d(o), nn.ReLU(inplace=True))


class SmallUNet(nn.Module):
    def __init__(self, width=12):
        super().__init__()
        self.down1 = conv(1, width)
        self.down2 = conv(width, 2 * width)
        self.mid = conv(2 * width, 2 * width)
        self.up1 = conv(4 * width, width)
        self.up2 = conv(2 * width, width)
        self.out = nn.Conv2d(width, 1, 1)

    def forward(self, x):
        a = self.down1(x)
        b = self.down2(F.max_pool2d(a, 2))
        c = self.mid(F.max_pool2d(b, 2))
        u = self.up1(torch.cat([F.interpolate(c, scale_factor=2), b], 1))
        u = self.up2(torch.cat([F.interpolate(u, scale_factor=2), a], 1))
        return self.out(u)


def list_pairs(root):
    images = sorted(os.listdir(os.path.join(root, "images")))
    masks = sorted(os.listdir(os.path.join(root, "masks")), key=frame_number)
    return images, masks


def soft_dice_loss(logits, target, smooth=1.0):
    p = logits.sigmoid()
    inter = (p * target).sum((1, 2, 3))
    denom = p.sum((1, 2, 3)) + target.sum((1, 2, 3))
    return (1 - (2 * inter + smooth) / (denom + smooth)).mean()


@torch.no_grad()
def dice_score(model, loader):
    model.eval()
    scores = []
    for x, y in loader:
        p = (model(x) > 0).float()
        inter = (p * y).sum((1, 2, 3))
        scores.append((2 * inter + 1e-6) / (p.sum((1, 2, 3)) + y.sum((1, 2, 3)) + 1e-6))
    return torch.cat(scores).mean().item()


def run():
    torch.manual_seed(3)
    np.random.seed(3)
    with tempfile.TemporaryDirectory() as tmp:
        write_folder(tmp, 400, seed=11)
        images, masks = list_pairs(tmp)
        order = np.random.default_rng(5).permutation(len(images))
        tr, va = order[:320], order[320:]
        train_set = CellDataset(tmp, [images[i] for i in tr], [masks[i] for i in tr])
        val_set = CellDataset(tmp, [images[i] for i in va], [masks[i] for i in va])

    train_loader = DataLoader(train_set, batch_size=16, shuffle=True)
    val_loader = DataLoader(val_set, batch_size=40)
    model = SmallUNet()
    opt = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=1e-4)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=8)

    for epoch in range(8):
        model.train()
        running = 0.0
        for x, y in train_loader:
            logits = model(x)
            loss = F.binary_cross_entropy_with_logits(logits, y) + soft_dice_loss(logits, y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            running += loss.item() * len(x)
        sched.step()
        print(f"epoch {epoch}  train loss {running / len(train_set):.4f}  val dice {dice_score(model, val_loader):.3f}")


if __name__ == "__main__":
    run()
