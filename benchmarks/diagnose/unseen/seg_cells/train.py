import warnings

import lightning as L
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore")


def synth_cells(n, seed, size=32):
    rng = np.random.default_rng(seed)
    yy, xx = np.mgrid[:size, :size]
    images = np.empty((n, 1, size, size), np.float32)
    masks = np.zeros((n, 1, size, size), np.float32)
    for i in range(n):
        img = rng.normal(0.35, 0.03) + 0.06 * (xx / size - 0.5) * rng.normal()
        img = img + np.zeros((size, size))
        for _ in range(rng.integers(1, 4)):
            cx, cy = rng.uniform(5, size - 5, 2)
            a, b = rng.uniform(3, 7, 2)
            t = rng.uniform(0, np.pi)
            u = (xx - cx) * np.cos(t) + (yy - cy) * np.sin(t)
            v = -(xx - cx) * np.sin(t) + (yy - cy) * np.cos(t)
            inside = (u / a) ** 2 + (v / b) ** 2 <= 1
            img = np.where(inside, rng.uniform(0.5, 0.75), img)
            masks[i, 0][inside] = 1.0
        images[i, 0] = img + rng.normal(0, 0.10, (size, size))
    return torch.from_numpy(images), torch.from_numpy(masks)


class CellData(L.LightningDataModule):
    def setup(self, stage=None):
        x_tr, m_tr = synth_cells(360, 1)
        x_va, m_va = synth_cells(90, 2)
        mean, std = x_tr.mean(), x_tr.std()
        self.train_set = TensorDataset((x_tr - mean) / std, m_tr)
        self.val_set = TensorDataset((x_va - mean) / std, m_va)

    def train_dataloader(self):
        return DataLoader(self.train_set, batch_size=16, shuffle=True)

    def val_dataloader(self):
        return DataLoader(self.val_set, batch_size=30)


def block(i, o):
    return nn.Sequential(nn.Conv2d(i, o, 3, padding=1, bias=False), nn.BatchNorm2d(o), nn.ReLU())


class TinyUNet(L.LightningModule):
    def __init__(self, lr=3e-3):
        super().__init__()
        self.save_hyperparameters()
        self.enc1 = block(1, 8)
        self.enc2 = block(8, 16)
        self.mid = block(16, 16)
        self.up = nn.ConvTranspose2d(16, 8, 2, stride=2)
        self.dec = block(16, 8)
        self.head = nn.Conv2d(8, 1, 1)

    def forward(self, x):
        e1 = self.enc1(x)
        e2 = self.mid(self.enc2(F.max_pool2d(e1, 2)))
        return self.head(self.dec(torch.cat([self.up(e2), e1], dim=1)))

    def training_step(self, batch, _):
        x, m = batch
        loss = F.binary_cross_entropy_with_logits(self(x), m)
        self.log("train_loss", loss, on_step=False, on_epoch=True, batch_size=len(x))
        return loss

    def validation_step(self, batch, _):
        x, m = batch
        logits = self(x)
        pred = (logits > 0).float()
        inter = (pred * m).flatten(1).sum(1)
        dice = (2 * inter + 1e-6) / (pred.flatten(1).sum(1) + m.flatten(1).sum(1) + 1e-6)
        self.log("val_loss", F.binary_cross_entropy_with_logits(logits, m), batch_size=len(x))
        self.log("val_dice", dice.mean(), batch_size=len(x))

    def on_train_epoch_end(self):
        m = self.trainer.callback_metrics
        print(f"epoch {self.current_epoch} train {m['train_loss']:.4f} "
              f"val {m['val_loss']:.4f} dice {m['val_dice']:.4f}")

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=self.hparams.lr)


if __name__ == "__main__":
    L.seed_everything(5, verbose=False)
    trainer = L.Trainer(max_epochs=6, accelerator="cpu", logger=False, enable_checkpointing=False,
                        enable_progress_bar=False, enable_model_summary=False, num_sanity_val_steps=0)
    trainer.fit(TinyUNet(), CellData())
