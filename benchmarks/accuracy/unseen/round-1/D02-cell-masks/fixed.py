import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import Dataset, DataLoader

torch.manual_seed(1)
torch.set_num_threads(1)


def draw_cells(n, size=24):
    yy, xx = torch.meshgrid(torch.arange(size), torch.arange(size), indexing="ij")
    imgs, masks = [], []
    for _ in range(n):
        cy, cx = torch.randint(5, size - 5, (2,)).tolist()
        r = torch.randint(3, 6, (1,)).item()
        m = ((yy - cy) ** 2 + (xx - cx) ** 2 <= r * r).float()
        imgs.append((m * 0.8 + 0.25 * torch.randn(size, size)).unsqueeze(0))
        masks.append(m.unsqueeze(0))
    return torch.stack(imgs), torch.stack(masks)


def random_flip(t, p):
    if p[0] < 0.5:
        t = t.flip(-1)
    if p[1] < 0.5:
        t = t.flip(-2)
    return t


class CellDataset(Dataset):
    def __init__(self, n, augment):
        self.images, self.masks = draw_cells(n)
        self.augment = augment

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        img, mask = self.images[i], self.masks[i]
        if self.augment:
            p = torch.rand(2)
            img = random_flip(img, p)
            mask = random_flip(mask, p)
        return img, mask


net = nn.Sequential(
    nn.Conv2d(1, 12, 3, padding=1), nn.ReLU(),
    nn.Conv2d(12, 12, 3, padding=1), nn.ReLU(),
    nn.Conv2d(12, 1, 3, padding=1),
)
train_loader = DataLoader(CellDataset(240, True), batch_size=16, shuffle=True)
val_loader = DataLoader(CellDataset(80, False), batch_size=40)
opt = torch.optim.Adam(net.parameters(), lr=5e-3)


def dice(logits, target):
    pred = (logits > 0).float()
    return (2 * (pred * target).sum() / (pred.sum() + target.sum() + 1e-6)).item()


for epoch in range(8):
    net.train()
    for img, mask in train_loader:
        loss = F.binary_cross_entropy_with_logits(net(img), mask)
        opt.zero_grad()
        loss.backward()
        opt.step()
    net.eval()
    with torch.no_grad():
        scores = [dice(net(i), m) for i, m in val_loader]
    print(f"[{epoch}] loss={loss.item():.4f} val_dice={sum(scores) / len(scores):.3f}")
