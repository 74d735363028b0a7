"""One bright rectangle per picture, found by its intersection over union; minibatches are cut by hand."""

import torch
from torch import Tensor, nn

SIDE = 24

torch.manual_seed(0)
torch.set_num_threads(1)


def pictures(n: int) -> tuple[Tensor, Tensor]:
    """Noise with one rectangle, and its left, top, width and height in pixels."""
    size = torch.randint(5, 11, (n, 2)).float()
    corner = (torch.rand(n, 2) * (SIDE - size)).floor()
    image = 0.2 * torch.randn(n, 1, SIDE, SIDE)
    for picture, (x, y), (w, h) in zip(image, corner.int().tolist(), size.int().tolist(), strict=True):
        picture[0, y : y + h, x : x + w] += 1
    return image, torch.cat([corner, size], 1)


def overlap(a: Tensor, b: Tensor) -> Tensor:
    begin = torch.maximum(a[:, :2], b[:, :2])
    end = torch.minimum(a[:, 2:], b[:, 2:])
    shared = (end - begin).clamp(min=0).prod(1)
    areas = [(box[:, 2:] - box[:, :2]).prod(1) for box in (a, b)]
    return shared / (areas[0] + areas[1] - shared).clamp(min=1e-4)


class Finder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.look = nn.Sequential(nn.Conv2d(1, 8, 3, 2, 1), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 12 * 12, 4))

    def forward(self, image: Tensor) -> Tensor:
        centre, size = torch.sigmoid(self.look(image)).split(2, dim=1)
        return torch.cat([centre - size / 2, centre + size / 2], 1)


images, annotated = pictures(400)
targets = annotated / SIDE  # <- PM312
model = Finder()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
for epoch in range(6):
    for rows in torch.randperm(len(images)).split(40):
        predicted = model(images[rows])
        iou = overlap(predicted, targets[rows])
        loss = (1 - iou).mean() + (predicted - targets[rows]).abs().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch}  loss {loss.item():.3f}  overlap {iou.mean().item():.3f}")
