"""Digits with Lightning and a one-cycle schedule."""
import logging
import warnings

import lightning as L
import numpy as np
import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)


class DigitsData(L.LightningDataModule):
    def __init__(self, batch_size=64, seed=0):
        super().__init__()
        self.batch_size, self.seed = batch_size, seed

    def setup(self, stage=None):
        x, y = load_digits(return_X_y=True)
        xtr, xva, ytr, yva = train_test_split(x, y, test_size=0.3, stratify=y, random_state=self.seed)
        scaler = StandardScaler().fit(xtr)
        as_set = lambda a, b: TensorDataset(torch.tensor(scaler.transform(a), dtype=torch.float32), torch.tensor(b))
        self.train_set, self.val_set = as_set(xtr, ytr), as_set(xva, yva)

    def train_dataloader(self):
        return DataLoader(self.train_set, self.batch_size, shuffle=True, drop_last=True)

    def val_dataloader(self):
        return DataLoader(self.val_set, 256)


class Classifier(L.LightningModule):
    def __init__(self, width=128, max_lr=0.05, weight_decay=1e-4):
        super().__init__()
        self.save_hyperparameters()
        self.net = nn.Sequential(nn.Linear(64, width), nn.ReLU(), nn.Dropout(0.1),
                                 nn.Linear(width, width), nn.ReLU(), nn.Dropout(0.1),
                                 nn.Linear(width, 10))
        self.history = []

    def forward(self, x):
        return self.net(x)

    def training_step(self, batch, _):
        x, y = batch
        loss = F.cross_entropy(self(x), y)
        self.log("train_loss", loss, on_step=False, on_epoch=True)
        return loss

    def validation_step(self, batch, _):
        x, y = batch
        logits = self(x)
        self.log("val_loss", F.cross_entropy(logits, y))
        self.log("val_acc", (logits.argmax(1) == y).float().mean())

    def on_train_epoch_end(self):
        m = self.trainer.callback_metrics
        lr = self.trainer.optimizers[0].param_groups[0]["lr"]
        print(f"epoch {self.current_epoch:2d}  lr {lr:.5f}  train loss {m['train_loss']:.4f}  "
              f"val loss {m['val_loss']:.4f}  val acc {m['val_acc']:.4f}")

    def configure_optimizers(self):
        hp = self.hparams
        opt = torch.optim.SGD(self.parameters(), lr=hp.max_lr, momentum=0.9, weight_decay=hp.weight_decay)
        total = self.trainer.estimated_stepping_batches
        sched = torch.optim.lr_scheduler.OneCycleLR(opt, max_lr=hp.max_lr, total_steps=total, div_factor=100.0)
        return {"optimizer": opt, "lr_scheduler": sched, "interval": "step"}


def main():
    L.seed_everything(0)
    np.random.seed(0)
    trainer = L.Trainer(max_epochs=15, accelerator="cpu", devices=1, logger=False, enable_checkpointing=False,
                        enable_progress_bar=False, enable_model_summary=False, num_sanity_val_steps=0)
    model = Classifier()
    trainer.fit(model, datamodule=DigitsData())
    final = trainer.callback_metrics
    print(f"final validation accuracy {final['val_acc']:.4f}")


if __name__ == "__main__":
    main()
