import argparse
import numpy as np
import torch
import torch.nn as nn
import lightning as L
import logging
import warnings
from torch.utils.data import DataLoader, Dataset

warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
torch.set_num_threads(1)


def to_tensor(arr):
    """uint8 HxW (or HxWxC) array -> float CxHxW in [0, 1]"""
    if arr.ndim == 2:
        arr = arr[..., None]
    return torch.from_numpy(arr.transpose(2, 0, 1).astype(np.float32) / 255.0)


def draw_cells(rng, size=32):
    yy, xx = np.mgrid[:size, :size]
    img = rng.normal(70, 18, (size, size))
    mask = np.zeros((size, size), dtype=np.uint8)
    for _ in range(rng.integers(2, 5)):
        cy, cx, r = rng.uniform(4, size - 4), rng.uniform(4, size - 4), rng.uniform(3, 6)
        blob = (yy - cy) ** 2 + (xx - cx) ** 2 < r * r
        img[blob] += rng.uniform(35, 80)
        mask[blob] = 1
    return np.clip(img, 0, 255).astype(np.uint8), mask


class CellDataset(Dataset):
    def __init__(self, n, seed):
        rng = np.random.default_rng(seed)
        self.items = [draw_cells(rng) for _ in range(n)]

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        img, mask = self.items[i]
        return to_tensor(img), to_tensor(mask * 255)


def block(i, o):
    return nn.Sequential(nn.Conv2d(i, o, 3, padding=1), nn.BatchNorm2d(o), nn.ReLU())


class MiniUNet(L.LightningModule):
    def __init__(self, lr):
        super().__init__()
        self.lr = lr
        self.d1, self.d2 = block(1, 8), block(8, 16)
        self.pool = nn.MaxPool2d(2)
        self.up = nn.Upsample(scale_factor=2, mode="nearest")
        self.u1 = block(24, 8)
        self.out = nn.Conv2d(8, 1, 1)
        self.loss_fn = nn.BCEWithLogitsLoss()
        self.history = []

    def forward(self, x):
        a = self.d1(x)
        b = self.d2(self.pool(a))
        return self.out(self.u1(torch.cat([self.up(b), a], 1)))

    def training_step(self, batch, _):
        x, y = batch
        loss = self.loss_fn(self(x), y)
        self.history.append(loss.item())
        return loss

    def on_validation_epoch_start(self):
        self.inter = self.union = 0.0

    def validation_step(self, batch, _):
        x, y = batch
        pred = (self(x).sigmoid() > 0.5).float()
        gt = (y > 0).float()
        self.inter += 2 * (pred * gt).sum().item()
        self.union += (pred.sum() + gt.sum()).item()

    def on_validation_epoch_end(self):
        if self.history:
            print(f"epoch {self.current_epoch} train_loss {np.mean(self.history[-20:]):.4f} val_dice {self.inter / self.union:.4f}")

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=self.lr)


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--lr", type=float, default=3e-3)
    p.add_argument("--epochs", type=int, default=6)
    a = p.parse_args()
    L.seed_everything(1, verbose=False)
    trainer = L.Trainer(max_epochs=a.epochs, accelerator="cpu", logger=False, enable_checkpointing=False,
                        enable_progress_bar=False, enable_model_summary=False, num_sanity_val_steps=0)
    trainer.fit(MiniUNet(a.lr), DataLoader(CellDataset(320, 0), batch_size=16, shuffle=True), DataLoader(CellDataset(64, 99), batch_size=32))
