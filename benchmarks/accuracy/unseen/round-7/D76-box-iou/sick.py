"""Single-object detector: regress a box from a small heat image with an IoU loss."""
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

SIZE = 24


class OneBox(Dataset):
    """annotations follow the COCO convention: x, y of the corner, width, height (fractions of the image)"""

    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        wh = torch.randint(5, 12, (n, 2), generator=g)
        xy = (torch.rand(n, 2, generator=g) * (SIZE - wh)).long()
        self.images = 0.3 * torch.randn(n, 1, SIZE, SIZE, generator=g)
        for i in range(n):
            x, y = xy[i].tolist()
            w, h = wh[i].tolist()
            self.images[i, 0, y:y + h, x:x + w] += 1.0
        self.boxes = torch.cat([xy, wh], 1).float() / SIZE

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        return self.images[i], self.boxes[i]


def xywh_to_xyxy(b):
    return torch.cat([b[:, :2], b[:, :2] + b[:, 2:]], dim=1)


def pairwise_iou(a, b, eps=1e-6):
    lt = torch.maximum(a[:, :2], b[:, :2])
    rb = torch.minimum(a[:, 2:], b[:, 2:])
    inter = (rb - lt).clamp(min=0).prod(1)
    area_a = (a[:, 2:] - a[:, :2]).clamp(min=0).prod(1)
    area_b = (b[:, 2:] - b[:, :2]).clamp(min=0).prod(1)
    return inter / (area_a + area_b - inter + eps)


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(
            nn.Conv2d(1, 12, 3, stride=2, padding=1), nn.ReLU(),
            nn.Conv2d(12, 24, 3, stride=2, padding=1), nn.ReLU(), nn.Flatten(),
            nn.Linear(24 * 36, 64), nn.ReLU(), nn.Linear(64, 4),
        )

    def forward(self, x):
        p = torch.sigmoid(self.backbone(x))
        return torch.cat([p[:, :2], p[:, :2] + p[:, 2:]], 1)


def criterion(pred, boxes):
    target = boxes
    iou = pairwise_iou(pred, target)
    return (1 - iou).mean() + 2.0 * nn.functional.smooth_l1_loss(pred, target)


def run():
    torch.manual_seed(0)
    train = DataLoader(OneBox(640, 0), batch_size=32, shuffle=True)
    val = OneBox(160, 1)
    net = Detector()
    opt = torch.optim.Adam(net.parameters(), lr=1.5e-3)
    for epoch in range(10):
        net.train()
        total = 0.0
        for img, boxes in train:
            loss = criterion(net(img), boxes)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
        net.eval()
        with torch.no_grad():
            iou = pairwise_iou(net(val.images), xywh_to_xyxy(val.boxes)).mean().item()
        print(f"epoch {epoch} loss {total / len(train):.3f} mean IoU {iou:.3f}")


if __name__ == "__main__":
    run()
