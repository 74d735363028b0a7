"""Lightning classifier on the wine-like synthetic tabular task, linear warm-up then cosine decay."""
import logging
import math
import warnings

import lightning as L
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import make_classification
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)


class TabularData(L.LightningDataModule):
    def __init__(self, batch_size=64, seed=0):
        super().__init__()
        self.batch_size, self.seed = batch_size, seed

    def setup(self, stage=None):
        x, y = make_classification(2600, 24, n_informative=14, n_classes=5, class_sep=1.6, random_state=self.seed)
        xtr, xva, ytr, yva = train_test_split(x, y, test_size=0.25, stratify=y, random_state=self.seed)
        scaler = StandardScaler().fit(xtr)
        as_set = lambda a, b: TensorDataset(torch.tensor(scaler.transform(a), dtype=torch.float32), torch.tensor(b))
        self.train_set, self.val_set = as_set(xtr, ytr), as_set(xva, yva)

    def train_dataloader(self):
        return DataLoader(self.train_set, batch_size=self.batch_size, shuffle=True)

    def val_dataloader(self):
        return DataLoader(self.val_set, batch_size=256)


class Classifier(L.LightningModule):
    def __init__(self, lr=2e-3, warmup_steps=60):
        super().__init__()
        self.save_hyperparameters()
        self.net = nn.Sequential(nn.Linear(24, 96), nn.ReLU(), nn.Linear(96, 96), nn.ReLU(), nn.Linear(96, 5))

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = F.cross_entropy(self.net(x), y)
        self.log("train_loss", loss, on_step=False, on_epoch=True)
        return loss

    def validation_step(self, batch, batch_idx):
        x, y = batch
        logits = self.net(x)
        self.log("val_loss", F.cross_entropy(logits, y))
        self.log("val_acc", (logits.argmax(1) == y).float().mean())

    def configure_optimizers(self):
        opt = torch.optim.AdamW(self.parameters(), lr=self.hparams.lr, weight_decay=1e-2)
        total = self.trainer.estimated_stepping_batches
        warm = self.hparams.warmup_steps

        def scale(step):
            if step < warm:
                return (step + 1) / warm
            return 0.5 * (1 + math.cos(math.pi * (step - warm) / max(1, total - warm)))

        sched = torch.optim.lr_scheduler.LambdaLR(opt, scale)
        return {"optimizer": opt, "lr_scheduler": {"scheduler": sched, "name": "warmup_cosine", "interval": "step"}}


class Report(L.Callback):
    def on_train_epoch_end(self, trainer, module):
        m = trainer.callback_metrics
        lr = trainer.optimizers[0].param_groups[0]["lr"]
        print(f"epoch {trainer.current_epoch:2d}  loss {m['train_loss']:.4f}  val acc {m['val_acc']:.4f}  lr {lr:.2e}")


if __name__ == "__main__":
    L.seed_everything(1, verbose=False)
    trainer = L.Trainer(
        max_epochs=10, accelerator="cpu", devices=1, logger=False, enable_checkpointing=False,
        enable_progress_bar=False, enable_model_summary=False, num_sanity_val_steps=0, callbacks=[Report()],
    )
    trainer.fit(Classifier(), datamodule=TabularData())
