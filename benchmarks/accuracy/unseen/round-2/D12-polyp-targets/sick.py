import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(6)
torch.set_num_threads(1)


class Scans:
    """uint8 image and uint8 mask pairs"""

    def __init__(self, n, s=20):
        yy, xx = torch.meshgrid(torch.arange(s), torch.arange(s), indexing="ij")
        c = torch.randint(4, s - 4, (n, 2, 1, 1))
        r = torch.randint(3, 6, (n, 1, 1))
        m = ((yy - c[:, 0]).abs() + (xx - c[:, 1]).abs() <= r)
        noise = torch.randn(n, s, s) * 30
        self.images = (90 + 80 * m + noise).clamp(0, 255).to(torch.uint8)
        self.masks = m.to(torch.uint8)

    def batch(self, idx):
        image = self.images[idx].float().unsqueeze(1) / 255
        mask = self.masks[idx].float().unsqueeze(1) / 255  # <- PM302
        return image, mask


class TinyUNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.e1 = nn.Conv2d(1, 10, 3, padding=1)
        self.e2 = nn.Conv2d(10, 20, 3, padding=1)
        self.d1 = nn.Conv2d(30, 10, 3, padding=1)
        self.out = nn.Conv2d(10, 1, 1)

    def forward(self, x):
        a = F.relu(self.e1(x - 0.4))
        b = F.relu(self.e2(F.max_pool2d(a, 2)))
        u = F.interpolate(b, scale_factor=2.0)
        return self.out(F.relu(self.d1(torch.cat([a, u], 1))))


train, val = Scans(200), Scans(60)
net = TinyUNet()
opt = torch.optim.Adam(net.parameters(), lr=4e-3)
for epoch in range(10):
    for b in torch.randperm(200).split(20):
        img, mask = train.batch(b)
        loss = F.binary_cross_entropy_with_logits(net(img), mask)
        opt.zero_grad()
        loss.backward()
        opt.step()
    with torch.no_grad():
        img, _ = val.batch(torch.arange(60))
        pred = torch.sigmoid(net(img)) > 0.5
        truth = val.masks.unsqueeze(1).bool()
        iou = (pred & truth).sum() / (pred | truth).sum()
    print("epoch", epoch, f"loss {loss.item():.4f} val IoU {iou.item():.3f}")
