"""Spot bright spots in star-field images; every pixel is classified, few pixels are positive."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

SIZE, PRIOR = 16, 0.04


def make_sky(n: int) -> TensorDataset:
    """Noisy images with blurred stars, and the mask of the pixels that belong to one."""
    centres = (torch.rand(n, 1, SIZE, SIZE) < 0.01).float()
    kernel = torch.tensor([[0.1, 0.6, 0.1], [0.6, 1.0, 0.6], [0.1, 0.6, 0.1]]).view(1, 1, 3, 3)
    glow = F.conv2d(centres, kernel, padding=1)
    mask = (glow >= 0.6).float()
    return TensorDataset((1.5 * glow + 0.4 * torch.randn(n, 1, SIZE, SIZE)) / 0.5, mask)


class StarNet(nn.Module):
    def __init__(self, width: int = 16):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(1, width, 3, padding=1),
            nn.ReLU(),
            nn.Conv2d(width, width, 3, padding=1),
            nn.ReLU(),
            nn.Conv2d(width, width, 3, padding=1),
            nn.ReLU(),
        )
        self.head = nn.Conv2d(width, 1, 1)
        self.apply(self.init_bias)

    @staticmethod
    def init_bias(module: nn.Module) -> None:
        """Start with the probability of a star pixel."""
        if isinstance(module, nn.Conv2d):
            nn.init.constant_(module.bias, -math.log((1 - PRIOR) / PRIOR))

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.body(x))


@torch.no_grad()
def dice(model: nn.Module, loader: DataLoader) -> float:
    model.eval()
    overlap = size = 0.0
    for images, masks in loader:
        found = (model(images) > 0).float()
        overlap += (found * masks).sum().item()
        size += (found.sum() + masks.sum()).item()
    return 2 * overlap / size


torch.set_num_threads(1)
torch.manual_seed(0)
train_loader = DataLoader(make_sky(800), batch_size=20, shuffle=True)
val_loader = DataLoader(make_sky(160), batch_size=80)
model = StarNet()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)

for epoch in range(1, 6):
    model.train()
    total = 0.0
    for images, masks in train_loader:
        loss = F.binary_cross_entropy_with_logits(model(images), masks)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    print(f"epoch {epoch}: train loss {total / len(train_loader):.4f}  val dice {dice(model, val_loader):.3f}")
