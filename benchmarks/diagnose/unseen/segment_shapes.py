"""Three-class segmentation of noisy discs and squares, by a class that owns everything."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset


class Shapes(Dataset):
    def __init__(self, n, size=24, seed=0):
        g = torch.Generator().manual_seed(seed)
        yy, xx = torch.meshgrid(torch.arange(size), torch.arange(size), indexing="ij")
        self.images, self.masks = [], []
        for _ in range(n):
            mask = torch.zeros(size, size, dtype=torch.long)
            cx, cy = torch.randint(5, size - 5, (2,), generator=g)
            r = int(torch.randint(3, 6, (1,), generator=g))
            mask[(xx - cx) ** 2 + (yy - cy) ** 2 < r * r] = 1
            sx, sy = torch.randint(0, size - 7, (2,), generator=g)
            mask[sy : sy + 6, sx : sx + 6] = 2
            colours = torch.tensor([[0.1, 0.1, 0.1], [0.8, 0.3, 0.2], [0.2, 0.4, 0.9]])
            image = colours[mask].permute(2, 0, 1) + 0.15 * torch.randn(3, size, size, generator=g)
            self.images.append(image)
            self.masks.append(mask)

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        return {"image": self.images[i], "mask": self.masks[i]}


class TinyUNet(nn.Module):
    def __init__(self, classes=3, w=12):
        super().__init__()
        self.down = nn.Sequential(nn.Conv2d(3, w, 3, padding=1), nn.ReLU())
        self.mid = nn.Sequential(nn.Conv2d(w, 2 * w, 3, padding=1), nn.ReLU())
        self.head = nn.Conv2d(3 * w, classes, 3, padding=1)

    def forward(self, x):
        a = self.down(x)
        b = self.mid(F.max_pool2d(a, 2))
        return self.head(torch.cat([a, F.interpolate(b, scale_factor=2)], 1))


class Trainer:
    def __init__(self, classes=3):
        self.classes = classes
        self.model = TinyUNet(classes)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=3e-3)

    def loss(self, logits, mask):
        return F.cross_entropy(logits.reshape(-1, self.classes), mask.reshape(-1))

    def fit(self, loader, epochs):
        for epoch in range(epochs):
            self.model.train()
            for batch in loader:
                self.optimizer.zero_grad()
                loss = self.loss(self.model(batch["image"]), batch["mask"])
                loss.backward()
                self.optimizer.step()
            print(f"epoch {epoch} loss {loss.item():.3f}")

    @torch.no_grad()
    def evaluate(self, loader):
        self.model.eval()
        right = [(self.model(b["image"]).argmax(1) == b["mask"]).float().mean() for b in loader]
        return float(torch.stack(right).mean())


if __name__ == "__main__":
    torch.manual_seed(0)
    trainer = Trainer()
    trainer.fit(DataLoader(Shapes(320), batch_size=16, shuffle=True), epochs=6)
    print("pixel accuracy", trainer.evaluate(DataLoader(Shapes(64, seed=1), batch_size=16)))
