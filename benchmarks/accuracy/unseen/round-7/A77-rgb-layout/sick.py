import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

SIZE = 16
SHAPES = ["disc", "square", "cross", "ring"]


def draw(kind, rng):
    yy, xx = np.mgrid[0:SIZE, 0:SIZE]
    cy, cx = rng.uniform(5, 10, 2)
    r = rng.uniform(3, 5)
    d = np.hypot(yy - cy, xx - cx)
    if kind == 0:
        m = d < r
    elif kind == 1:
        m = (abs(yy - cy) < r * 0.85) & (abs(xx - cx) < r * 0.85)
    elif kind == 2:
        m = ((abs(yy - cy) < 1.2) | (abs(xx - cx) < 1.2)) & (d < r * 1.2)
    else:
        m = (d < r) & (d > r - 1.8)
    colour = rng.uniform(0.4, 1.0, 3)
    bg = rng.uniform(0.0, 0.5, 3)
    img = np.where(m[..., None], colour, bg) + rng.normal(0, 0.08, (SIZE, SIZE, 3))
    return (np.clip(img, 0, 1) * 255).astype(np.uint8)


def dataset(n, seed):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 4, n)
    images = np.stack([draw(k, rng) for k in labels])
    return images, labels


def preprocess(images):
    x = torch.from_numpy(images).float().div(255)
    x = (x - 0.45) / 0.25
    return x.reshape(-1, 3, SIZE, SIZE)


class ShapeNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Sequential(
            nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.AdaptiveAvgPool2d(2),
        )
        self.head = nn.Linear(128, 4)

    def forward(self, x):
        return self.head(self.conv(x).flatten(1))


class Trainer:
    def __init__(self, model, train_dl, val_dl, lr=2e-3):
        self.model, self.train_dl, self.val_dl = model, train_dl, val_dl
        self.opt = torch.optim.AdamW(model.parameters(), lr=lr)
        self.loss = nn.CrossEntropyLoss()

    def fit(self, epochs):
        for epoch in range(epochs):
            self.model.train()
            total = 0
            for x, y in self.train_dl:
                self.opt.zero_grad()
                out = self.loss(self.model(x), y)
                out.backward()
                self.opt.step()
                total += out.item()
            print(f"epoch {epoch:2d} | loss {total / len(self.train_dl):.3f} | val acc {self.validate():.3f}")

    @torch.no_grad()
    def validate(self):
        self.model.eval()
        ok = n = 0
        for x, y in self.val_dl:
            ok += (self.model(x).argmax(1) == y).sum().item()
            n += len(y)
        return ok / n


if __name__ == "__main__":
    torch.manual_seed(2)
    tr_img, tr_y = dataset(800, 0)
    va_img, va_y = dataset(300, 1)
    train_dl = DataLoader(TensorDataset(preprocess(tr_img), torch.from_numpy(tr_y)), 32, shuffle=True)
    val_dl = DataLoader(TensorDataset(preprocess(va_img), torch.from_numpy(va_y)), 100)
    Trainer(ShapeNet(), train_dl, val_dl).fit(10)
