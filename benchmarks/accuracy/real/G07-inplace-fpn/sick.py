"""Text/no-text segmentation with a small feature pyramid (FPEM-like fusion)."""
import torch
from torch import nn
from torch.nn import functional as F

torch.set_num_threads(1)
torch.manual_seed(0)


class FPEMNeck(nn.Module):
    def __init__(self, channels=8):
        super().__init__()
        self.reduce2 = nn.Conv2d(1, channels, 3, padding=1)
        self.reduce3 = nn.Conv2d(channels, channels, 3, stride=2, padding=1)
        self.smooth2 = nn.Conv2d(channels, channels, 3, padding=1)
        self.smooth3 = nn.Conv2d(channels, channels, 3, padding=1)

    def forward(self, x):
        c2 = torch.sigmoid(self.reduce2(x))
        c3 = torch.sigmoid(self.reduce3(c2))
        c2_ffm = torch.sigmoid(self.smooth2(c2 + F.interpolate(c3, size=c2.shape[-2:])))
        c3_ffm = torch.sigmoid(self.smooth3(c3))
        c2_ffm += c2  # <- PM423
        return c2_ffm + F.interpolate(c3_ffm, size=c2.shape[-2:])


class Segmenter(nn.Module):
    def __init__(self):
        super().__init__()
        self.neck = FPEMNeck()
        self.head = nn.Conv2d(8, 1, 1)

    def forward(self, x):
        return self.head(self.neck(x)).squeeze(1)


def pages(n):
    image = 0.2 * torch.randn(n, 1, 16, 16)
    mask = torch.zeros(n, 16, 16)
    for i in range(n):
        row = int(torch.randint(1, 12, (1,)))
        image[i, 0, row:row + 3] += 1.0
        mask[i, row:row + 3] = 1.0
    return image, mask


model = Segmenter()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(60):
    image, mask = pages(8)
    loss = F.binary_cross_entropy_with_logits(model(image), mask)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 0:
        print(f"step {step} loss {loss.item():.4f}")
