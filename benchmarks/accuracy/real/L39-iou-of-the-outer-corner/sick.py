"""Single-object detector trained with an IoU loss."""
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
N, S = 500, 16
x0, y0 = torch.randint(0, 8, (N,)), torch.randint(0, 8, (N,))
w, h = torch.randint(4, 8, (N,)), torch.randint(4, 8, (N,))
ii = torch.arange(S)
inside = ((ii[None, None] >= x0[:, None, None]) & (ii[None, None] < (x0 + w)[:, None, None])
          & (ii[None, :, None] >= y0[:, None, None]) & (ii[None, :, None] < (y0 + h)[:, None, None]))
images = inside[:, None].float() + 0.2 * torch.randn(N, 1, S, S)
boxes = torch.stack([x0, y0, x0 + w, y0 + h], 1).float() / S


def iou_loss(pred, box):
    lt = torch.max(pred[:, :2], box[:, :2])
    rb = torch.max(pred[:, 2:], box[:, 2:])
    inter = (rb - lt).clamp(min=0).prod(1)
    area = lambda b: (b[:, 2:] - b[:, :2]).clamp(min=0).prod(1)
    iou = inter / (area(pred) + area(box) - inter + 1e-6)
    return (1 - iou).mean()  # <- PM507


class Det(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Sequential(nn.Conv2d(1, 8, 3, 2, 1), nn.ReLU(), nn.Conv2d(8, 16, 3, 2, 1), nn.ReLU(), nn.Flatten())
        self.fc = nn.Linear(256, 4)

    def forward(self, img):
        c = torch.sigmoid(self.fc(self.conv(img)))
        centre, size = c[:, :2], c[:, 2:]
        return torch.cat([centre - size / 2, centre + size / 2], 1)


net = Det()
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
train = DataLoader(TensorDataset(images[:400], boxes[:400]), batch_size=25, shuffle=True)
val = DataLoader(TensorDataset(images[400:], boxes[400:]), batch_size=50)
for epoch in range(6):
    net.train()
    for a, b in train:
        opt.zero_grad()
        loss = iou_loss(net(a), b)
        loss.backward()
        opt.step()
    net.eval()
    with torch.no_grad():
        v = sum(iou_loss(net(a), b).item() for a, b in val) / len(val)
    print(epoch, loss.item(), v)
