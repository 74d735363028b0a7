import warnings

import lightning as L
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore")
torch.set_num_threads(1)
L.seed_everything(4)

SIZE, CLASSES = 32, 3


def make_slide(rng):
    """A field of cells: 0 background, 1 round bright cell, 2 elongated dark cell."""
    yy, xx = np.mgrid[:SIZE, :SIZE]
    img = 0.5 + 0.08 * rng.standard_normal((SIZE, SIZE)) + 0.1 * np.sin(xx / rng.uniform(4, 9))
    mask = np.zeros((SIZE, SIZE), dtype=np.int64)
    for _ in range(rng.integers(3, 6)):
        cy, cx = rng.uniform(4, SIZE - 4, 2)
        if rng.random() < 0.5:
            hit = (yy - cy) ** 2 + (xx - cx) ** 2 < rng.uniform(3, 4.5) ** 2
            img[hit] += 0.45
            mask[hit] = 1
        else:
            t = rng.uniform(0, np.pi)
            u = (xx - cx) * np.cos(t) + (yy - cy) * np.sin(t)
            v = -(xx - cx) * np.sin(t) + (yy - cy) * np.cos(t)
            hit = (u / 6.5) ** 2 + (v / 2.6) ** 2 < 1
            img[hit] -= 0.4
            mask[hit] = 2
    return img.astype(np.float32), mask


def block(i, o):
    return nn.Sequential(nn.Conv2d(i, o, 3, padding=1), nn.BatchNorm2d(o), nn.ReLU(),
                         nn.Conv2d(o, o, 3, padding=1), nn.BatchNorm2d(o), nn.ReLU())


class UNet(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.d1, self.d2 = block(1, width), block(width, 2 * width)
        self.mid = block(2 * width, 4 * width)
        self.u2, self.u1 = block(6 * width, 2 * width), block(3 * width, width)
        self.out = nn.Conv2d(width, CLASSES, 1)

    def forward(self, x):
        a = self.d1(x)
        b = self.d2(F.max_pool2d(a, 2))
        c = self.mid(F.max_pool2d(b, 2))
        b = self.u2(torch.cat([F.interpolate(c, scale_factor=2), b], 1))
        a = self.u1(torch.cat([F.interpolate(b, scale_factor=2), a], 1))
        return self.out(a)


class LitCells(L.LightningModule):
    def __init__(self, lr=3e-3):
        super().__init__()
        self.save_hyperparameters()
        self.net = UNet()
        self.history = []

    def _step(self, batch):
        x, y = batch
        logits = self.net(x)
        flat = logits.contiguous().view(-1, CLASSES)
        loss = F.cross_entropy(flat, y.view(-1))
        pred = flat.argmax(1).view_as(y)
        acc = (pred == y).float().mean()
        inter = ((pred > 0) & (pred == y)).sum()
        dice = 2.0 * inter / ((pred > 0).sum() + (y > 0).sum()).clamp(min=1)
        return loss, acc, dice

    def training_step(self, batch, _):
        loss, acc, _ = self._step(batch)
        self.log("train_loss", loss, on_epoch=True, on_step=False)
        return loss

    def validation_step(self, batch, _):
        loss, acc, dice = self._step(batch)
        self.log_dict({"val_loss": loss, "val_acc": acc, "val_dice": dice})

    def on_train_epoch_end(self):
        m = self.trainer.callback_metrics
        print(f"epoch {self.current_epoch}: " + "  ".join(f"{k} {float(v):.4f}" for k, v in sorted(m.items())))

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=self.hparams.lr)


if __name__ == "__main__":
    rng = np.random.default_rng(0)
    slides = [make_slide(rng) for _ in range(176)]
    X = torch.from_numpy(np.stack([s[0] for s in slides])).unsqueeze(1)
    Y = torch.from_numpy(np.stack([s[1] for s in slides]))
    X = (X - X[:144].mean()) / X[:144].std()
    train = DataLoader(TensorDataset(X[:144], Y[:144]), batch_size=16, shuffle=True)
    val = DataLoader(TensorDataset(X[144:], Y[144:]), batch_size=32)
    trainer = L.Trainer(max_epochs=7, accelerator="cpu", logger=False, enable_checkpointing=False,
                        enable_progress_bar=False, enable_model_summary=False)
    trainer.fit(LitCells(), train, val)
