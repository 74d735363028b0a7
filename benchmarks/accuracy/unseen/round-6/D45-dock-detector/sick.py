import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class DockFrames(Dataset):
    """Wide frames with one bright container; the target is its box as fractions of the frame."""

    H, W = 24, 72

    def __init__(self, n, seed):
        rng = np.random.default_rng(seed)
        self.frames, self.boxes = [], []
        for _ in range(n):
            img = rng.normal(0, 0.15, (self.H, self.W)).astype(np.float32)
            bw, bh = rng.integers(8, 20), rng.integers(5, 11)
            x, y = rng.integers(0, self.W - bw), rng.integers(0, self.H - bh)
            img[y:y + bh, x:x + bw] += 1.0
            self.frames.append(torch.from_numpy(img)[None])
            self.boxes.append(torch.tensor([x, y, x + bw, y + bh], dtype=torch.float32))

    def __len__(self):
        return len(self.frames)

    def __getitem__(self, i):
        img = self.frames[i]
        h, w = img.shape[-2:]
        box = self.boxes[i] / torch.tensor([h, w, h, w], dtype=torch.float32)  # <- PM312
        return {"image": img, "box": box}


class BoxNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.cnn = nn.Sequential(
            nn.Conv2d(1, 16, 3, stride=2, padding=1), nn.ReLU(),
            nn.Conv2d(16, 32, 3, stride=2, padding=1), nn.ReLU(),
        )
        self.head = nn.Sequential(nn.Flatten(), nn.Linear(32 * 6 * 18, 64), nn.ReLU(), nn.Linear(64, 4))

    def forward(self, x):
        return self.head(self.cnn(x)).sigmoid()


def pixel_iou(pred, frames):
    scale = torch.tensor([frames.W, frames.H, frames.W, frames.H], dtype=torch.float32)
    true = torch.stack(frames.boxes)
    p = pred * scale
    lt, rb = torch.maximum(p[:, :2], true[:, :2]), torch.minimum(p[:, 2:], true[:, 2:])
    inter = (rb - lt).clamp(min=0).prod(1)
    area = lambda b: (b[:, 2:] - b[:, :2]).clamp(min=0).prod(1)
    return (inter / (area(p) + area(true) - inter)).mean().item()


torch.manual_seed(5)
torch.set_num_threads(1)
train, val = DockFrames(800, 1), DockFrames(200, 2)
loader = DataLoader(train, batch_size=32, shuffle=True)
model = BoxNet()
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(14):
    model.train()
    for batch in loader:
        loss = nn.functional.smooth_l1_loss(model(batch["image"]), batch["box"], beta=0.05)
        opt.zero_grad()
        loss.backward()
        opt.step()
    model.eval()
    with torch.no_grad():
        iou = pixel_iou(model(torch.stack(val.frames)), val)
    if epoch % 3 == 1:
        print(f"epoch {epoch + 1}: loss {loss.item():.4f}  validation IoU {iou:.3f}")
