"""A tiny single-object detector: find the ship in a radar patch (one class, one box per image)."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset

CLASSES = ["ship"]
SIZE = 24


class RadarPatches(Dataset):
    """Noisy patches with one bright rectangle; boxes are (x1, y1, x2, y2) relative to the patch."""

    def __init__(self, n: int, seed: int):
        rng = torch.Generator().manual_seed(seed)
        self.images = 0.2 * torch.randn(n, 1, SIZE, SIZE, generator=rng)
        extent = torch.randint(5, 11, (n, 2), generator=rng)
        start = (torch.rand(n, 2, generator=rng) * (SIZE - extent)).long()
        self.boxes = torch.cat([start, start + extent], dim=1).float() / SIZE
        self.labels = torch.full((n,), CLASSES.index("ship"))
        for image, (x1, y1), (w, h) in zip(self.images, start.tolist(), extent.tolist()):
            image[0, y1 : y1 + h, x1 : x1 + w] += 1.0

    def __len__(self) -> int:
        return len(self.images)

    def __getitem__(self, i: int) -> tuple[Tensor, Tensor, Tensor]:
        return self.images[i], self.boxes[i], self.labels[i]


class Detector(nn.Module):
    def __init__(self, n_classes: int):
        super().__init__()
        self.backbone = nn.Sequential(
            nn.Conv2d(1, 8, 3, stride=2, padding=1),
            nn.ReLU(),
            nn.Conv2d(8, 16, 3, stride=2, padding=1),
            nn.ReLU(),
            nn.Flatten(),
            nn.Linear(16 * 36, 64),
            nn.ReLU(),
        )
        self.box_head = nn.Linear(64, 4)
        self.cls_head = nn.Linear(64, n_classes)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        features = self.backbone(x)
        return self.box_head(features), self.cls_head(features)


def mean_iou(pred: Tensor, target: Tensor) -> float:
    top_left = torch.maximum(pred[:, :2], target[:, :2])
    bottom_right = torch.minimum(pred[:, 2:], target[:, 2:])
    overlap = (bottom_right - top_left).clamp(min=0).prod(dim=1)
    areas = (pred[:, 2:] - pred[:, :2]).clamp(min=0).prod(dim=1) + (target[:, 2:] - target[:, :2]).prod(dim=1)
    return (overlap / (areas - overlap)).mean().item()


def main() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    train_loader = DataLoader(RadarPatches(1000, seed=1), batch_size=50, shuffle=True)
    val_set = RadarPatches(200, seed=2)
    model = Detector(len(CLASSES))
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)

    for epoch in range(10):
        model.train()
        box_total = cls_total = 0.0
        for images, boxes, labels in train_loader:
            pred_boxes, class_scores = model(images)
            box_loss = F.smooth_l1_loss(pred_boxes, boxes, beta=0.1)
            cls_loss = F.cross_entropy(class_scores, labels)  # <- PM505
            optimizer.zero_grad()
            (box_loss + cls_loss).backward()
            optimizer.step()
            box_total += box_loss.item()
            cls_total += cls_loss.item()
        model.eval()
        with torch.no_grad():
            iou = mean_iou(model(val_set.images)[0], val_set.boxes)
        steps = len(train_loader)
        print(f"epoch {epoch}  box {box_total / steps:.4f}  cls {cls_total / steps:.4f}  val IoU {iou:.3f}")


if __name__ == "__main__":
    main()
