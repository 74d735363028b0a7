import logging
import warnings
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import lightning as L
from sklearn.metrics import roc_auc_score
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)


def customers(n, rng):
    tenure = rng.exponential(24, n)
    calls = rng.poisson(1.2, n)
    bill = rng.lognormal(3.4, 0.5, n)
    plan = rng.integers(0, 4, n)
    region = rng.integers(0, 6, n)
    z = -2.0 + 0.35 * np.minimum(calls, 4) - 0.012 * np.minimum(tenure, 60) + 0.25 * (plan == 2) + 0.3 * (bill > 45)
    y = rng.random(n) < 1 / (1 + np.exp(-z))
    num = np.stack([np.log1p(tenure), calls, np.log(bill)], 1).astype(np.float32)
    return num, np.stack([plan, region], 1), y.astype(np.float32), z


class ChurnNet(L.LightningModule):
    def __init__(self, lr=4e-3):
        super().__init__()
        self.save_hyperparameters()
        self.plan = nn.Embedding(4, 3)
        self.region = nn.Embedding(6, 3)
        self.mlp = nn.Sequential(nn.Linear(9, 32), nn.SiLU(), nn.Dropout(0.1), nn.Linear(32, 1))
        self.seen, self.loss_sum, self.loss_n = [], 0.0, 0

    def forward(self, num, cat):
        x = torch.cat([num, self.plan(cat[:, 0]), self.region(cat[:, 1])], 1)
        return self.mlp(x).squeeze(1)

    def training_step(self, batch, _):
        num, cat, y = batch
        loss = F.binary_cross_entropy_with_logits(self(num, cat), y)
        self.loss_sum += loss.item(); self.loss_n += 1
        return loss

    def validation_step(self, batch, _):
        num, cat, y = batch
        self.seen.append((self(num, cat), y))

    def on_validation_epoch_end(self):
        p = torch.cat([a for a, _ in self.seen]); y = torch.cat([b for _, b in self.seen])
        self.seen.clear()
        val = F.binary_cross_entropy_with_logits(p, y).item()
        if self.loss_n:
            print(f"epoch {self.current_epoch} train_loss {self.loss_sum / self.loss_n:.4f} val_loss {val:.4f} "
                  f"val_auc {roc_auc_score(y.numpy(), p.numpy()):.4f} val_acc {((p > 0).float() == y).float().mean():.4f}")
        self.loss_sum, self.loss_n = 0.0, 0

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=self.hparams.lr, weight_decay=1e-2)


if __name__ == "__main__":
    L.seed_everything(5, verbose=False)
    rng = np.random.default_rng(5)
    num, cat, y, _ = customers(9000, rng)
    mu, sd = num[:7000].mean(0), num[:7000].std(0)
    num = (num - mu) / sd
    t = [torch.from_numpy(a) for a in (num, cat, y)]
    train = TensorDataset(*[a[:7000] for a in t])
    val = TensorDataset(*[a[7000:] for a in t])
    trainer = L.Trainer(max_epochs=5, accelerator="cpu", logger=False, enable_checkpointing=False,
                        enable_progress_bar=False, enable_model_summary=False, num_sanity_val_steps=0)
    trainer.fit(ChurnNet(), DataLoader(train, 128, shuffle=True), DataLoader(val, 500))
