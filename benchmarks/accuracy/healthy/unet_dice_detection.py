"""A small U-Net with dice + BCE for blobs, then a detector with two heads (class per cell, box for positive cells)."""

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(0)


def scene(n, size=16):
    image, mask = 0.2 * torch.randn(n, 1, size, size), torch.zeros(n, 1, size, size)
    boxes = torch.zeros(n, 4)
    kind = torch.randint(3, (n,))  # 0: nothing there
    for i in range(n):
        if kind[i]:
            w, h = (2 + torch.randint(4, (2,))).tolist()
            x, y = torch.randint(0, size - w, ()).item(), torch.randint(0, size - h, ()).item()
            mask[i, 0, y : y + h, x : x + w] = 1
            image[i, 0, y : y + h, x : x + w] += 1.0 if kind[i] == 1 else -1.0
            boxes[i] = torch.tensor([x, y, x + w, y + h]) / size
    return image, mask, kind, boxes


def block(i, o):
    return nn.Sequential(nn.Conv2d(i, o, 3, padding=1, bias=False), nn.BatchNorm2d(o), nn.ReLU(inplace=True))


class UNet(nn.Module):
    def __init__(self, c=8):
        super().__init__()
        self.down1, self.down2, self.bottom = block(1, c), block(c, 2 * c), block(2 * c, 2 * c)
        self.up2, self.up1, self.out = block(4 * c, c), block(2 * c, c), nn.Conv2d(c, 1, 1)

    def forward(self, x):
        a = self.down1(x)
        b = self.down2(F.max_pool2d(a, 2))
        z = F.interpolate(self.bottom(F.max_pool2d(b, 2)), scale_factor=2)
        z = F.interpolate(self.up2(torch.cat([z, b], 1)), scale_factor=2)
        return self.out(self.up1(torch.cat([z, a], 1)))


def dice_loss(logits, target, smooth=1.0):
    p = torch.sigmoid(logits).flatten(1)
    t = target.flatten(1)
    return (1 - (2 * (p * t).sum(1) + smooth) / (p.sum(1) + t.sum(1) + smooth)).mean()


net = UNet()
optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)
for step in range(70):
    image, mask, _, _ = scene(16)
    logits = net(image)
    loss = F.binary_cross_entropy_with_logits(logits, mask) + dice_loss(logits, mask)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 0:
        print("unet", step, loss.item())
net.eval()
with torch.no_grad():
    image, mask, _, _ = scene(100)
    dice = 1 - dice_loss(net(image) * 10, mask).item()
print("dice", dice)


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            block(1, 8), nn.MaxPool2d(2), block(8, 16), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(256, 64), nn.ReLU()
        )
        self.kind, self.box = nn.Linear(64, 3), nn.Linear(64, 4)

    def forward(self, x):
        h = self.body(x)
        return self.kind(h), torch.sigmoid(self.box(h))


detector = Detector()
optimizer = torch.optim.Adam(detector.parameters(), lr=3e-3)
for step in range(120):
    image, _, kind, boxes = scene(24)
    logits, predicted = detector(image)
    positive = kind > 0
    box_loss = (
        F.smooth_l1_loss(predicted[positive], boxes[positive], beta=0.05) if positive.any() else predicted.sum() * 0
    )
    loss = F.cross_entropy(logits, kind) + 2 * box_loss
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 30 == 0:
        print("detector", step, loss.item(), box_loss.item())
detector.eval()
with torch.no_grad():
    image, _, kind, boxes = scene(200)
    logits, predicted = detector(image)
accuracy = (logits.argmax(1) == kind).float().mean().item()
print("accuracy", accuracy, "box error", (predicted - boxes)[kind > 0].abs().mean().item())
assert dice > 0.6 and accuracy > 0.85
