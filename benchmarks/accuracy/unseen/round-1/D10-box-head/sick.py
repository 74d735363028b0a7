import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(3)
torch.set_num_threads(1)
S_ = 32


def annotations(n):
    """coco style rows [x, y, w, h] in pixels and the image they belong to"""
    wh = torch.randint(6, 14, (n, 2)).float()
    xy = (torch.rand(n, 2) * (S_ - wh)).floor()
    ann = torch.cat([xy, wh], 1)
    img = torch.randn(n, 1, S_, S_) * 0.2
    for i, (x, y, w, h) in enumerate(ann.int().tolist()):
        img[i, 0, y:y + h, x:x + w] += 1.0
    return img, ann


def giou(a, b):
    lt, rb = torch.max(a[:, :2], b[:, :2]), torch.min(a[:, 2:], b[:, 2:])
    inter = (rb - lt).clamp(min=0).prod(1)
    area_a, area_b = (a[:, 2:] - a[:, :2]).prod(1), (b[:, 2:] - b[:, :2]).prod(1)
    union = area_a + area_b - inter
    hull = (torch.max(a[:, 2:], b[:, 2:]) - torch.min(a[:, :2], b[:, :2])).prod(1)
    iou = inter / union.clamp(min=1e-4)
    return iou, iou - (hull - union) / hull.clamp(min=1e-4)


class Locator(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Sequential(nn.Conv2d(1, 8, 3, 2, 1), nn.ReLU(), nn.Conv2d(8, 16, 3, 2, 1), nn.ReLU(), nn.Flatten())
        self.fc = nn.Sequential(nn.Linear(16 * 64, 64), nn.ReLU(), nn.Linear(64, 4))

    def forward(self, x):
        c = self.fc(self.conv(x))
        ctr, size = torch.sigmoid(c[:, :2]), torch.sigmoid(c[:, 2:])
        return torch.cat([ctr - size / 2, ctr + size / 2], 1)


imgs, ann = annotations(600)
vimgs, vann = annotations(150)
target = ann / S_  # <- PM312
v_xyxy = torch.cat([vann[:, :2], vann[:, :2] + vann[:, 2:]], 1) / S_
net = Locator()
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
for ep in range(12):
    for b in torch.randperm(600).split(40):
        out = net(imgs[b])
        loss = (1 - giou(out, target[b])[1]).mean() + F.l1_loss(out, target[b])
        opt.zero_grad()
        loss.backward()
        opt.step()
    with torch.no_grad():
        print("epoch", ep, "loss %.3f" % loss.item(), "val mean IoU %.3f" % giou(net(vimgs), v_xyxy)[0].mean().item())
