"""Blob segmentation with a Dice loss."""
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(13)


def make_images(n, size=32):
    yy, xx = torch.meshgrid(torch.arange(size), torch.arange(size), indexing="ij")
    images, masks = [], []
    for _ in range(n):
        mask = torch.zeros(size, size)
        for _ in range(torch.randint(1, 4, ()).item()):
            r = torch.randint(4, 9, ()).item()
            cy, cx = torch.randint(r, size - r, (2,)).tolist()
            mask[(yy - cy) ** 2 + (xx - cx) ** 2 <= r * r] = 1
        images.append(mask * 1.0 + 0.7 * torch.randn(size, size))
        masks.append(mask)
    return torch.stack(images).unsqueeze(1), torch.stack(masks).unsqueeze(1)


class DiceLoss(nn.Module):
    def __init__(self, smooth=1.0):
        super().__init__()
        self.smooth = smooth

    def forward(self, logits, target):
        prob = torch.sigmoid(logits)
        pred = prob
        inter = (pred * target).sum(dim=(1, 2, 3))
        total = pred.sum(dim=(1, 2, 3)) + target.sum(dim=(1, 2, 3))
        dice = (2 * inter + self.smooth) / (total + self.smooth)
        return 1 - dice.mean()


class MiniUNet(nn.Module):
    def __init__(self, c=12):
        super().__init__()
        self.enc1 = nn.Sequential(nn.Conv2d(1, c, 3, padding=1), nn.BatchNorm2d(c), nn.ReLU())
        self.enc2 = nn.Sequential(nn.Conv2d(c, 2 * c, 3, padding=1), nn.BatchNorm2d(2 * c), nn.ReLU())
        self.pool = nn.MaxPool2d(2)
        self.up = nn.Upsample(scale_factor=2, mode="bilinear", align_corners=False)
        self.dec = nn.Sequential(nn.Conv2d(3 * c, c, 3, padding=1), nn.BatchNorm2d(c), nn.ReLU())
        self.out = nn.Conv2d(c, 1, 1)

    def forward(self, x):
        a = self.enc1(x)
        b = self.enc2(self.pool(a))
        return self.out(self.dec(torch.cat([a, self.up(b)], dim=1)))


def dice_score(model, loader):
    model.eval()
    scores = []
    with torch.no_grad():
        for x, y in loader:
            p = (torch.sigmoid(model(x)) > 0.5).float()
            inter = (p * y).sum(dim=(1, 2, 3))
            scores.append(2 * inter / (p.sum(dim=(1, 2, 3)) + y.sum(dim=(1, 2, 3))))
    return torch.cat(scores).mean().item()


x_train, y_train = make_images(320)
x_val, y_val = make_images(80)
mean, std = x_train.mean(), x_train.std()
train_loader = DataLoader(TensorDataset((x_train - mean) / std, y_train), batch_size=16, shuffle=True)
val_loader = DataLoader(TensorDataset((x_val - mean) / std, y_val), batch_size=40)

model = MiniUNet()
criterion = DiceLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(6):
    model.train()
    epoch_loss = 0.0
    for x, y in train_loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        epoch_loss += loss.item()
    print(f"epoch {epoch + 1} loss {epoch_loss / len(train_loader):.4f} val dice {dice_score(model, val_loader):.4f}")
