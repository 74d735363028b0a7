"""Regress one box per image with anchor-relative targets, as a region proposal network does."""
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

IMG = 256.0


class Pedestrians(Dataset):
    """Annotations in COCO style: x, y, width, height."""

    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        w = 20 + 60 * torch.rand(n, generator=g)
        h = 60 + 100 * torch.rand(n, generator=g)
        x = (IMG - w) * torch.rand(n, generator=g)
        y = (IMG - h) * torch.rand(n, generator=g)
        self.annotations = torch.stack([x, y, w, h], dim=1)
        centers = torch.stack([x + w / 2, y + h / 2, w, h], dim=1) / IMG
        self.features = torch.cat([centers, centers**2], dim=1) + 0.01 * torch.randn(n, 8, generator=g)

    def __len__(self):
        return len(self.annotations)

    def __getitem__(self, i):
        boxes = self.annotations[i].clone()
        return self.features[i], boxes  # <- PM312


def encode(boxes, anchor):
    """Boxes as x0, y0, x1, y1 -> dx, dy, dw, dh relative to the anchor."""
    widths, heights = boxes[:, 2] - boxes[:, 0], boxes[:, 3] - boxes[:, 1]
    ctr_x, ctr_y = boxes[:, 0] + 0.5 * widths, boxes[:, 1] + 0.5 * heights
    a_w, a_h = anchor[2] - anchor[0], anchor[3] - anchor[1]
    a_x, a_y = anchor[0] + 0.5 * a_w, anchor[1] + 0.5 * a_h
    dx, dy = (ctr_x - a_x) / a_w, (ctr_y - a_y) / a_h
    return torch.stack([dx, dy, torch.log(widths / a_w), torch.log(heights / a_h)], dim=1)


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    anchor = torch.tensor([103.0, 73.0, 153.0, 183.0])
    loader = DataLoader(Pedestrians(640, seed=0), batch_size=32, shuffle=True)
    rpn = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 4))
    optimizer = torch.optim.SGD(rpn.parameters(), lr=0.02, momentum=0.9)
    for epoch in range(6):
        for features, boxes in loader:
            loss_rpn_box_reg = nn.functional.smooth_l1_loss(rpn(features), encode(boxes, anchor), beta=1 / 9)
            optimizer.zero_grad()
            loss_rpn_box_reg.backward()
            optimizer.step()
        print(f"epoch {epoch} loss_rpn_box_reg {loss_rpn_box_reg.item():.4f}")


if __name__ == "__main__":
    main()
