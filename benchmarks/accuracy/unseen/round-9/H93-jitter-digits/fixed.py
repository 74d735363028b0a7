"""Few-shot digits with heavy augmentation. Decoding a picture is the slow part, so it is kept in memory."""
import math
from functools import lru_cache

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn
from torch.utils.data import DataLoader, Dataset


class RandomAffine:
    """Rotate, scale and shift a (1, H, W) picture by random amounts."""

    def __init__(self, degrees=20, scale=0.15, shift=0.2):
        self.degrees, self.scale, self.shift = degrees, scale, shift

    def __call__(self, img):
        r = torch.empty(4).uniform_(-1, 1)
        a = math.radians(self.degrees) * r[0]
        s = 1 + self.scale * r[1]
        theta = torch.stack([
            torch.stack([torch.cos(a) * s, -torch.sin(a) * s, self.shift * r[2]]),
            torch.stack([torch.sin(a) * s, torch.cos(a) * s, self.shift * r[3]])])
        grid = F.affine_grid(theta[None], [1, *img.shape], align_corners=False)
        return F.grid_sample(img[None], grid, align_corners=False)[0]


class PictureStore(Dataset):
    def __init__(self, pixels, labels, transform=None):
        self.pixels, self.labels, self.transform = pixels, labels, transform
        self._load = lru_cache(maxsize=None)(self.load)

    def load(self, i):
        img = torch.tensor(self.pixels[i], dtype=torch.float32).view(1, 1, 8, 8) / 16.0
        img = F.interpolate(img, size=(16, 16), mode="bilinear", align_corners=False)[0]
        return (img - 0.3) / 0.35

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        img = self._load(i)
        if self.transform is not None:
            img = self.transform(img)
        return img, int(self.labels[i])


def make_model():
    return nn.Sequential(
        nn.Conv2d(1, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(64 * 16, 64), nn.ReLU(), nn.Linear(64, 10))


def run_epoch(model, loader, opt=None):
    model.train(opt is not None)
    loss_sum, correct, count = 0.0, 0, 0
    with torch.set_grad_enabled(opt is not None):
        for x, y in loader:
            logits = model(x)
            loss = F.cross_entropy(logits, y)
            if opt is not None:
                opt.zero_grad()
                loss.backward()
                opt.step()
            loss_sum += loss.item() * y.numel()
            correct += (logits.argmax(1) == y).sum().item()
            count += y.numel()
    return loss_sum / count, correct / count


def main(epochs=30, seed=11):
    torch.manual_seed(seed)
    data = load_digits()
    xa, xb, ya, yb = train_test_split(data.data, data.target, train_size=100, stratify=data.target, random_state=seed)
    train = DataLoader(PictureStore(xa, ya, RandomAffine()), batch_size=20, shuffle=True)
    valid = DataLoader(PictureStore(xb, yb), batch_size=512)
    model = make_model()
    opt = torch.optim.Adam(model.parameters(), lr=1e-3)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=epochs)
    for epoch in range(epochs):
        tl, ta = run_epoch(model, train, opt)
        sched.step()
        if epoch % 10 == 9 or epoch == 0:
            vl, va = run_epoch(model, valid)
            print(f"epoch {epoch + 1:3d} | train {tl:.3f} / {ta:.3f} | valid {vl:.3f} / {va:.3f}")


if __name__ == "__main__":
    main()
