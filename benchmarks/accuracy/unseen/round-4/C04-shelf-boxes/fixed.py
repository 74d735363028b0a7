import argparse

import torch
import torch.nn.functional as F
from torch import nn

SIZE = 24.0


def shelf(n, g):
    """One product on a dark shelf: a textured rectangle and its corners x1, y1, x2, y2."""
    img = 0.1 * torch.randn(n, 1, 24, 24, generator=g)
    box = torch.empty(n, 4)
    for i in range(n):
        w, h = torch.randint(6, 13, (2,), generator=g).tolist()
        x = torch.randint(0, 24 - w + 1, (1,), generator=g).item()
        y = torch.randint(0, 24 - h + 1, (1,), generator=g).item()
        img[i, 0, y : y + h, x : x + w] += 0.6 + 0.3 * torch.rand(h, w, generator=g)
        box[i] = torch.tensor([x, y, x + w, y + h], dtype=torch.float32)
    return img, box


def mirror(img, box):
    box = box.clone()
    box[:, [0, 2]] = SIZE - box[:, [2, 0]]
    return img.flip(-1), box


def iou(a, b):
    lo, hi = torch.maximum(a[:, :2], b[:, :2]), torch.minimum(a[:, 2:], b[:, 2:])
    inter = (hi - lo).clamp(min=0).prod(1)
    area = lambda t: (t[:, 2:] - t[:, :2]).clamp(min=0).prod(1)
    return inter / (area(a) + area(b) - inter).clamp(min=1e-6)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--steps", type=int, default=500)
    p.add_argument("--batch", type=int, default=32)
    p.add_argument("--lr", type=float, default=2e-3)
    args = p.parse_args()
    torch.manual_seed(5)
    torch.set_num_threads(1)
    g = torch.Generator().manual_seed(5)
    img, box = shelf(1500, g)
    val_img, val_box = shelf(300, g)

    net = nn.Sequential(
        nn.Conv2d(1, 12, 3, stride=2, padding=1), nn.ReLU(),
        nn.Conv2d(12, 24, 3, stride=2, padding=1), nn.ReLU(),
        nn.Flatten(), nn.Linear(24 * 36, 64), nn.ReLU(), nn.Linear(64, 4),
    )
    opt = torch.optim.Adam(net.parameters(), lr=args.lr)
    for step in range(args.steps):
        i = torch.randint(0, len(img), (args.batch,), generator=g)
        xb, tb = img[i], box[i]
        if torch.rand(1, generator=g).item() < 0.5:
            xb, tb = mirror(xb, tb)
        loss = F.smooth_l1_loss(net(xb), tb / SIZE, beta=0.1)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 100 == 99:
            print(f"step {step + 1} loss {loss.item():.4f}")
    net.eval()
    with torch.no_grad():
        print(f"val mean IoU {iou(net(val_img) * SIZE, val_box).mean():.3f}")


if __name__ == "__main__":
    main()
