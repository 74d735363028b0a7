import torch
import torch.nn as nn


def dice_loss(score, mask, smooth=1.0):
    prob = score  # <- PM507
    inter = (prob * mask).sum(dim=(1, 2, 3))
    total = prob.sum(dim=(1, 2, 3)) + mask.sum(dim=(1, 2, 3))
    return 1 - ((2 * inter + smooth) / (total + smooth)).mean()


def walls(n, seed):
    g = torch.Generator().manual_seed(seed)
    img = 0.4 * torch.randn(n, 1, 20, 20, generator=g)
    mask = torch.zeros(n, 1, 20, 20)
    for i in range(n):
        r, c = torch.randint(2, 14, (2,), generator=g)
        h, w = torch.randint(3, 7, (2,), generator=g)
        mask[i, 0, r:r + h, c:c + w] = 1
    return img + mask * 0.9, mask


class SegNet(nn.Module):
    def __init__(self, ch=12):
        super().__init__()
        self.enc = nn.Sequential(nn.Conv2d(1, ch, 3, padding=1), nn.ReLU(), nn.Conv2d(ch, ch, 3, padding=1), nn.ReLU())
        self.dec = nn.Conv2d(ch, 1, 3, padding=1)

    def forward(self, x):
        return self.dec(self.enc(x))


torch.manual_seed(3)
torch.set_num_threads(1)
x, m = walls(240, 1)
xv, mv = walls(80, 2)
net = SegNet()
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
for epoch in range(15):
    net.train()
    for b in torch.randperm(len(x)).split(12):
        loss = dice_loss(net(x[b]), m[b])
        opt.zero_grad()
        loss.backward()
        opt.step()
    net.eval()
    with torch.no_grad():
        pred = net(xv) > 0
        iou = (pred & (mv > 0)).sum() / (pred | (mv > 0)).sum()
    if epoch % 3 == 2:
        print(f"epoch {epoch + 1:2d} dice loss {loss.item():.3f} validation IoU {iou:.3f}")
