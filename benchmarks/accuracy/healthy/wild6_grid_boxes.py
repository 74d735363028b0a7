"""One-stage detector with hand-written boxes: a 6x6 grid, one object per cell, objectness and offsets."""
import torch
import torch.nn as nn
import torch.nn.functional as F

S, CELL = 6, 6
SIZE = S * CELL


def scene(n, seed):
    g = torch.Generator().manual_seed(seed)
    img = 0.2 * torch.randn(n, 1, SIZE, SIZE, generator=g)
    obj = torch.zeros(n, S, S)
    box = torch.zeros(n, S, S, 4)
    for i in range(n):
        for _ in range(int(torch.randint(1, 4, (1,), generator=g))):
            w, h = (torch.randint(4, 10, (2,), generator=g)).tolist()
            x, y = int(torch.randint(0, SIZE - w, (1,), generator=g)), int(torch.randint(0, SIZE - h, (1,), generator=g))
            cx, cy = x + w / 2, y + h / 2
            r, c = int(cy // CELL), int(cx // CELL)
            img[i, 0, y:y + h, x:x + w] = 1.0
            obj[i, r, c] = 1
            box[i, r, c] = torch.tensor([cx / CELL - c, cy / CELL - r, w / SIZE, h / SIZE])
    return img, obj, box


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(3),
            nn.Conv2d(32, 48, 3, padding=1), nn.ReLU(), nn.Conv2d(48, 5, 1))

    def forward(self, x):
        o = self.net(x).permute(0, 2, 3, 1)
        return o[..., 0], o[..., 1:].sigmoid()


torch.manual_seed(0)
torch.set_num_threads(1)
img, obj, box = scene(500, 1)
vi, vo, vb = scene(120, 2)
model = Detector()
opt = torch.optim.AdamW(model.parameters(), lr=3e-3)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=14)
for epoch in range(14):
    model.train()
    for b in torch.randperm(len(img)).split(25):
        score, geo = model(img[b])
        present = obj[b] > 0
        loss = F.binary_cross_entropy_with_logits(score, obj[b], pos_weight=torch.tensor(5.0))
        loss = loss + 5 * F.l1_loss(geo[present], box[b][present])
        opt.zero_grad()
        loss.backward()
        opt.step()
    sched.step()
    if epoch % 3 == 1:
        model.eval()
        with torch.no_grad():
            score, geo = model(vi)
        found = score > 0
        recall = (found & (vo > 0)).sum() / (vo > 0).sum()
        precision = (found & (vo > 0)).sum() / found.sum().clamp(min=1)
        err = (geo - vb)[vo > 0].abs().mean()
        print(f"epoch {epoch + 1}: loss {loss.item():.3f} precision {precision:.2f} recall {recall:.2f} box error {err:.3f}")
