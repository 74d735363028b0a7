"""Vessel segmentation: cross-entropy plus Dice, small U-shaped net."""
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class DoubleConv(nn.Sequential):
    def __init__(self, cin, cout):
        super().__init__(nn.Conv2d(cin, cout, 3, padding=1), nn.BatchNorm2d(cout), nn.ReLU(inplace=True))


class TinyUNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down1, self.down2 = DoubleConv(1, 8), DoubleConv(8, 16)
        self.up = DoubleConv(24, 8)
        self.head = nn.Conv2d(8, 2, 1)

    def forward(self, x):
        a = self.down1(x)
        b = self.down2(F.max_pool2d(a, 2))
        b = F.interpolate(b, scale_factor=2, mode="nearest")
        return self.head(self.up(torch.cat([a, b], dim=1)))


def dice_loss(logits, mask, eps=1.0):
    predicted = logits.argmax(dim=1).float()  # <- PM506
    mask = mask.float()
    overlap = (predicted * mask).sum(dim=(1, 2))
    size = predicted.sum(dim=(1, 2)) + mask.sum(dim=(1, 2))
    return 1 - ((2 * overlap + eps) / (size + eps)).mean()


def combined(logits, mask):
    return 0.5 * F.cross_entropy(logits, mask) + 0.5 * dice_loss(logits, mask)


def vessels(n):
    mask = torch.zeros(n, 16, 16, dtype=torch.long)
    for i in range(n):
        r, w = int(torch.randint(2, 12, ())), int(torch.randint(1, 3, ()))
        if i % 2:
            mask[i, r : r + w] = 1
        else:
            mask[i, :, r : r + w] = 1
    image = mask.float() + 0.7 * torch.randn(n, 16, 16)
    return TensorDataset(image.unsqueeze(1), mask)


def main():
    torch.manual_seed(2)
    torch.set_num_threads(1)
    train, val = DataLoader(vessels(480), 16, shuffle=True), DataLoader(vessels(96), 16)
    net = TinyUNet()
    optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)
    for epoch in range(5):
        net.train()
        for image, mask in train:
            loss = combined(net(image), mask)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        net.eval()
        with torch.no_grad():
            score = sum(1 - dice_loss(net(i), m).item() for i, m in val) / len(val)
        print(f"epoch {epoch} loss {loss.item():.4f} dice {score:.3f}")


if __name__ == "__main__":
    main()
