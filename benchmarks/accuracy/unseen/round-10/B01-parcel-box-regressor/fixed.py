"""Single-object parcel localisation on synthetic conveyor frames, GIoU loss."""
import argparse
import json
import random

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

SIZE = 48


def render_frame(rng):
    img = rng.normal(0.35, 0.08, (SIZE, SIZE)).astype(np.float32)
    w, h = rng.integers(10, 26, 2)
    x = rng.integers(0, SIZE - w)
    y = rng.integers(0, SIZE - h)
    img[y:y + h, x:x + w] += rng.uniform(0.35, 0.6)
    return img, [float(x), float(y), float(w), float(h)]


def build_annotations(n, seed):
    """COCO-style dictionary: images + annotations."""
    rng = np.random.default_rng(seed)
    frames, coco = [], {"images": [], "annotations": []}
    for i in range(n):
        img, bbox = render_frame(rng)
        frames.append(img)
        coco["images"].append({"id": i, "height": SIZE, "width": SIZE})
        coco["annotations"].append({"id": i, "image_id": i, "bbox": bbox, "category_id": 1})
    return np.stack(frames), json.loads(json.dumps(coco))


class ParcelDataset(Dataset):
    def __init__(self, frames, coco):
        self.frames = (frames - 0.5) / 0.25
        self.by_image = {a["image_id"]: a for a in coco["annotations"]}

    def __len__(self):
        return len(self.frames)

    def __getitem__(self, i):
        ann = self.by_image[i]
        x, y, w, h = ann["bbox"]
        box = torch.tensor([x, y, x + w, y + h], dtype=torch.float32)
        box = box / SIZE
        return torch.from_numpy(self.frames[i])[None].float(), box


class Localiser(nn.Module):
    def __init__(self):
        super().__init__()
        def block(i, o):
            return nn.Sequential(nn.Conv2d(i, o, 3, stride=2, padding=1, bias=False), nn.BatchNorm2d(o), nn.ReLU())
        self.body = nn.Sequential(block(1, 16), block(16, 32), block(32, 48))
        self.head = nn.Sequential(nn.Flatten(), nn.Linear(48 * 36, 96), nn.ReLU(), nn.Linear(96, 4))

    def forward(self, x):
        cx, cy, w, h = self.head(self.body(x)).sigmoid().unbind(-1)
        return torch.stack([cx - w / 2, cy - h / 2, cx + w / 2, cy + h / 2], -1)


def giou_loss(pred, target, eps=1e-7):
    lt = torch.max(pred[:, :2], target[:, :2])
    rb = torch.min(pred[:, 2:], target[:, 2:])
    wh = (rb - lt).clamp(min=0)
    inter = wh[:, 0] * wh[:, 1]
    area_p = (pred[:, 2] - pred[:, 0]) * (pred[:, 3] - pred[:, 1])
    area_t = (target[:, 2] - target[:, 0]) * (target[:, 3] - target[:, 1])
    union = area_p + area_t - inter
    hull = torch.max(pred[:, 2:], target[:, 2:]) - torch.min(pred[:, :2], target[:, :2])
    hull = hull[:, 0] * hull[:, 1]
    giou = inter / (union + eps) - (hull - union) / (hull + eps)
    return (1 - giou).mean()


@torch.no_grad()
def coco_style_eval(model, dataset, coco):
    """Mean IoU between submitted [x, y, w, h] detections and the annotation file."""
    model.eval()
    ious = []
    for images, ids in iter_batches(dataset, 128):
        for p, i in zip(model(images).mul(SIZE).tolist(), ids):
            gx, gy, gw, gh = coco["annotations"][i]["bbox"]
            iw = max(0.0, min(p[2], gx + gw) - max(p[0], gx))
            ih = max(0.0, min(p[3], gy + gh) - max(p[1], gy))
            union = (p[2] - p[0]) * (p[3] - p[1]) + gw * gh - iw * ih
            ious.append(iw * ih / max(union, 1e-6))
    ious = np.array(ious)
    return ious.mean(), (ious > 0.5).mean()


def iter_batches(dataset, size):
    for s in range(0, len(dataset), size):
        ids = list(range(s, min(s + size, len(dataset))))
        yield torch.stack([dataset[i][0] for i in ids]), ids


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=10)
    ap.add_argument("--lr", type=float, default=1e-3)
    args = ap.parse_args()
    random.seed(0), np.random.seed(0), torch.manual_seed(0)

    train_frames, train_coco = build_annotations(1600, seed=1)
    val_frames, val_coco = build_annotations(400, seed=2)
    train_set, val_set = ParcelDataset(train_frames, train_coco), ParcelDataset(val_frames, val_coco)
    loader = DataLoader(train_set, batch_size=32, shuffle=True, drop_last=True)

    model = Localiser()
    opt = torch.optim.Adam(model.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        model.train()
        total = 0.0
        for images, boxes in loader:
            pred = model(images)
            loss = giou_loss(pred, boxes) + nn.functional.l1_loss(pred, boxes)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
        iou, ap50 = coco_style_eval(model, val_set, val_coco)
        print(f"epoch {epoch:2d}  loss {total / len(loader):.4f}  val IoU {iou:.3f}  AP50 {ap50:.3f}")


if __name__ == "__main__":
    main()
