import logging
import warnings

import lightning.pytorch as pl
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset
from transformers import get_cosine_schedule_with_warmup

warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
torch.set_num_threads(1)


def sequences(n, length=6, seed=0):
    """order codes: the check digit is the sum of the first and the fourth digit, modulo 5"""
    g = torch.Generator().manual_seed(seed)
    x = torch.randint(0, 10, (n, length), generator=g)
    return x, (x[:, 0] + x[:, 3]) % 5


class CheckDigit(pl.LightningModule):
    def __init__(self, lr=4e-3, warmup=80):
        super().__init__()
        self.save_hyperparameters()
        self.emb = nn.Embedding(10, 24)
        self.mlp = nn.Sequential(nn.Linear(6 * 24, 128), nn.GELU(), nn.Linear(128, 128), nn.GELU(), nn.Linear(128, 5))
        self.train_losses = []

    def forward(self, x):
        return self.mlp(self.emb(x).flatten(1))

    def training_step(self, batch, idx):
        x, y = batch
        loss = F.cross_entropy(self(x), y)
        self.train_losses.append(loss.item())
        return loss

    def validation_step(self, batch, idx):
        x, y = batch
        out = self(x)
        self.log_dict({"val_loss": F.cross_entropy(out, y), "val_acc": (out.argmax(1) == y).float().mean()})

    def on_train_epoch_end(self):
        m = self.trainer.callback_metrics
        print(f"epoch {self.current_epoch}: train {sum(self.train_losses) / len(self.train_losses):.4f} val {m['val_loss']:.4f} acc {m['val_acc']:.4f}")
        self.train_losses.clear()

    def configure_optimizers(self):
        optimizer = torch.optim.AdamW(self.parameters(), lr=self.hparams.lr, weight_decay=0.01)
        total = int(self.trainer.estimated_stepping_batches)
        scheduler = get_cosine_schedule_with_warmup(optimizer, num_warmup_steps=self.hparams.warmup, num_training_steps=total)
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": scheduler}, "interval": "step"}


if __name__ == "__main__":
    pl.seed_everything(17, verbose=False)
    train = DataLoader(TensorDataset(*sequences(4000, seed=1)), batch_size=50, shuffle=True)
    valid = DataLoader(TensorDataset(*sequences(800, seed=2)), batch_size=400)
    trainer = pl.Trainer(max_epochs=6, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False)
    trainer.fit(CheckDigit(), train, valid)
