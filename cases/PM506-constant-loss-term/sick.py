"""Binary segmentation of small blobs with a mini U-Net, trained with BCE plus Dice."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

SIZE = 32


def conv_block(n_in: int, n_out: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(n_in, n_out, 3, padding=1, bias=False),
        nn.BatchNorm2d(n_out),
        nn.ReLU(),
        nn.Conv2d(n_out, n_out, 3, padding=1, bias=False),
        nn.BatchNorm2d(n_out),
        nn.ReLU(),
    )


class MiniUNet(nn.Module):
    def __init__(self, width: int = 8):
        super().__init__()
        self.down1 = conv_block(1, width)
        self.down2 = conv_block(width, 2 * width)
        self.up1 = conv_block(3 * width, width)
        self.out = nn.Conv2d(width, 1, 1)

    def forward(self, x: Tensor) -> Tensor:
        skip = self.down1(x)
        deep = self.down2(F.max_pool2d(skip, 2))
        deep = F.interpolate(deep, scale_factor=2.0, mode="nearest")
        return self.out(self.up1(torch.cat([skip, deep], dim=1)))


def dice_loss(logits: Tensor, mask: Tensor) -> Tensor:
    pred = (torch.sigmoid(logits) > 0.5).float()  # <- PM506
    overlap = (pred * mask).sum(dim=(1, 2, 3))
    size = pred.sum(dim=(1, 2, 3)) + mask.sum(dim=(1, 2, 3))
    return 1 - ((2 * overlap + 1) / (size + 1)).mean()


def make_blobs(n: int) -> TensorDataset:
    grid = torch.arange(SIZE, dtype=torch.float32)
    centre = 6 + torch.rand(n, 2) * (SIZE - 12)
    radius = 3 + 3 * torch.rand(n, 1, 1)
    distance = (
        (grid[None, :, None] - centre[:, 0, None, None]) ** 2 + (grid[None, None, :] - centre[:, 1, None, None]) ** 2
    ).sqrt()
    masks = (distance < radius).float().unsqueeze(1)
    images = masks + 0.9 * torch.randn(n, 1, SIZE, SIZE)
    return TensorDataset(images, masks)


@torch.no_grad()
def evaluate(model: nn.Module, loader: DataLoader) -> float:
    model.eval()
    overlap = union = 0.0
    for images, masks in loader:
        pred = (model(images) > 0).float()
        overlap += (pred * masks).sum().item()
        union += torch.maximum(pred, masks).sum().item()
    return overlap / union


torch.set_num_threads(1)
torch.manual_seed(0)
train_loader = DataLoader(make_blobs(256), batch_size=16, shuffle=True)
val_loader = DataLoader(make_blobs(96), batch_size=48)
model = MiniUNet()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)

for epoch in range(5):
    model.train()
    bce_sum = dice_sum = 0.0
    for images, masks in train_loader:
        optimizer.zero_grad()
        logits = model(images)
        bce = F.binary_cross_entropy_with_logits(logits, masks)
        dice = dice_loss(logits, masks)
        loss = bce + dice
        loss.backward()
        optimizer.step()
        bce_sum += bce.item()
        dice_sum += dice.item()
    n = len(train_loader)
    print(f"epoch {epoch}  bce {bce_sum / n:.4f}  dice {dice_sum / n:.4f}  val IoU {evaluate(model, val_loader):.3f}")
