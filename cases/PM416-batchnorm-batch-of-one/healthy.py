"""Segment discs with a batch-normalised network: validated image by image, then adapted on line to a fainter camera."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

SIZE = 16


def make_images(count: int, contrast: float = 1.0) -> TensorDataset:
    """Noisy images with one bright disc each, and the mask of the disc."""
    axis = torch.arange(SIZE, dtype=torch.float32)
    centre = 4 + (SIZE - 8) * torch.rand(count, 2)
    radius = 2 + 3 * torch.rand(count)
    vertical, horizontal = (axis - centre[:, :1]).square(), (axis - centre[:, 1:]).square()
    inside = vertical[:, :, None] + horizontal[:, None, :] < radius[:, None, None].square()
    mask = inside.float().unsqueeze(1)
    image = contrast * (2 * mask - 1) + 0.8 * torch.randn(count, 1, SIZE, SIZE)
    return TensorDataset(image, mask)


class Backbone(nn.Module):
    def __init__(self, channels: int = 12) -> None:
        super().__init__()
        self.local = nn.Sequential(
            nn.Conv2d(1, channels, 3, padding=1, bias=False), nn.BatchNorm2d(channels), nn.ReLU(),
            nn.Conv2d(channels, channels, 3, padding=1, bias=False), nn.BatchNorm2d(channels), nn.ReLU(),
        )  # fmt: skip
        self.context = nn.Sequential(
            nn.AdaptiveAvgPool2d(1), nn.Flatten(),
            nn.Linear(channels, channels, bias=False), nn.BatchNorm1d(channels), nn.ReLU(),
        )  # fmt: skip

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        local = self.local(x)
        return torch.cat([local, self.context(local)[:, :, None, None].expand_as(local)], dim=1)


def intersection_over_union(model: nn.Module, loader: DataLoader) -> float:
    model.eval()
    shared = union = 0.0
    with torch.no_grad():
        for image, mask in loader:
            found = model(image) > 0
            shared += (found & mask.bool()).sum().item()
            union += (found | mask.bool()).sum().item()
    return shared / union


def main() -> None:
    torch.manual_seed(0)
    torch.set_num_threads(1)
    train = DataLoader(make_images(641), batch_size=16, shuffle=True, drop_last=True)
    valid = DataLoader(make_images(100), batch_size=1)

    backbone = Backbone()
    model = nn.Sequential(backbone, nn.Conv2d(24, 1, 3, padding=1))
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(3):
        model.train()
        total = 0.0
        for image, mask in train:
            optimizer.zero_grad()
            loss = F.binary_cross_entropy_with_logits(model(image), mask)
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch}: loss {total / len(train):.3f}  valid IoU {intersection_over_union(model, valid):.3f}")

    faint_valid = DataLoader(make_images(100, contrast=0.5), batch_size=1)
    print(f"faint images before adaptation: IoU {intersection_over_union(model, faint_valid):.3f}")
    backbone.requires_grad_(False).eval()
    head = model[1]
    optimizer = torch.optim.SGD(head.parameters(), lr=0.02)
    for image, mask in DataLoader(make_images(100, contrast=0.5), batch_size=1, shuffle=True):
        head.train()
        optimizer.zero_grad()
        loss = F.binary_cross_entropy_with_logits(head(backbone(image)), mask)
        loss.backward()
        optimizer.step()
    print(f"faint images after adaptation: IoU {intersection_over_union(model, faint_valid):.3f}")


if __name__ == "__main__":
    main()
