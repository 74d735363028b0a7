"""Single-object localisation with a GIoU loss (boxes are predicted as normalised cx, cy, w, h)."""
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.set_num_threads(1)


class Rectangles(Dataset):
    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        self.images = 0.25 * torch.randn(n, 1, 32, 32, generator=g)
        wh = torch.randint(8, 18, (n, 2), generator=g)
        xy = (torch.rand(n, 2, generator=g) * (32 - wh)).long()
        for i in range(n):
            x, y, w, h = xy[i, 0], xy[i, 1], wh[i, 0], wh[i, 1]
            self.images[i, 0, y:y + h, x:x + w] += 1.0
        self.boxes = torch.cat([(xy + wh / 2) / 32, wh / 32], 1)

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        return self.images[i], self.boxes[i]


def cxcywh_to_xyxy(b):
    cx, cy, w, h = b.unbind(-1)
    return torch.stack([cx - w / 2, cy - h / 2, cx + w / 2, cy + h / 2], -1)


def area(b):
    return (b[:, 2] - b[:, 0]).clamp(min=0) * (b[:, 3] - b[:, 1]).clamp(min=0)


def iou_and_union(a, b):
    lt, rb = torch.max(a[:, :2], b[:, :2]), torch.min(a[:, 2:], b[:, 2:])
    inter = (rb - lt).clamp(min=0).prod(1)
    union = area(a) + area(b) - inter
    return inter / (union + 1e-7), union


def giou_loss(a, b):
    iou, union = iou_and_union(a, b)
    lt, rb = torch.min(a[:, :2], b[:, :2]), torch.max(a[:, 2:], b[:, 2:])
    hull = (rb - lt).clamp(min=0).prod(1)
    return (1 - (iou - (hull - union) / (hull + 1e-7))).mean()


class Localiser(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(1, 12, 3, stride=2, padding=1), nn.ReLU(),
            nn.Conv2d(12, 24, 3, stride=2, padding=1), nn.ReLU(),
            nn.Conv2d(24, 24, 3, stride=2, padding=1), nn.ReLU(),
        )
        self.head = nn.Sequential(nn.Flatten(), nn.Linear(24 * 16, 96), nn.ReLU(), nn.Linear(96, 4))

    def forward(self, x):
        return self.head(self.body(x)).sigmoid()


def compute_loss(pred, target):
    l1 = (pred - target).abs().sum(1).mean()
    giou = giou_loss(cxcywh_to_xyxy(pred), cxcywh_to_xyxy(target))
    return 0.1 * l1 + 2.0 * giou, l1, giou


@torch.no_grad()
def mean_iou(model, loader):
    model.eval()
    total, n = 0.0, 0
    for x, b in loader:
        p = model(x)
        total += iou_and_union(cxcywh_to_xyxy(p), cxcywh_to_xyxy(b))[0].sum().item()
        n += len(x)
    model.train()
    return total / n


def main():
    torch.manual_seed(0)
    train, val = Rectangles(1200, 1), Rectangles(300, 2)
    train_loader = DataLoader(train, batch_size=32, shuffle=True)
    val_loader = DataLoader(val, batch_size=100)
    model = Localiser()
    opt = torch.optim.AdamW(model.parameters(), lr=2e-3)
    for epoch in range(10):
        s = [0.0, 0.0, 0.0]
        for x, b in train_loader:
            loss, l1, giou = compute_loss(model(x), b)
            opt.zero_grad()
            loss.backward()
            opt.step()
            for k, v in enumerate((loss, l1, giou)):
                s[k] += v.item() / len(train_loader)
        print(f"epoch {epoch} loss {s[0]:.4f} l1 {s[1]:.4f} giou {s[2]:.4f} val mIoU {mean_iou(model, val_loader):.3f}")


if __name__ == "__main__":
    main()
