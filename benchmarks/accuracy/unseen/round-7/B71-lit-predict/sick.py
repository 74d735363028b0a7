"""Lightning regression on diabetes, then a small report on the held-out patients."""
import logging
import warnings

import lightning as L
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_diabetes
from sklearn.model_selection import train_test_split
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)


class Progression(L.LightningModule):
    def __init__(self, n_in, hidden=64, p=0.5, lr=3e-3):
        super().__init__()
        self.save_hyperparameters()
        self.body = nn.Sequential(
            nn.Linear(n_in, hidden), nn.BatchNorm1d(hidden), nn.ReLU(), nn.Dropout(p),
            nn.Linear(hidden, hidden), nn.ReLU(), nn.Dropout(p),
        )
        self.out = nn.Linear(hidden, 1)

    def forward(self, x):
        return self.out(self.body(x)).squeeze(-1)

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = F.mse_loss(self(x), y)
        self.log("train_loss", loss)
        return loss

    def validation_step(self, batch, batch_idx):
        x, y = batch
        self.log("val_mse", F.mse_loss(self(x), y), prog_bar=False)

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=self.hparams.lr)


def load():
    X, y = load_diabetes(return_X_y=True)
    X = X / X.std(0)
    Xtr, Xte, ytr, yte = train_test_split(X, y, test_size=0.25, random_state=1)
    m, s = ytr.mean(), ytr.std()
    f = lambda a: torch.tensor(a, dtype=torch.float32)
    return TensorDataset(f(Xtr), f((ytr - m) / s)), TensorDataset(f(Xte), f((yte - m) / s))


def main():
    L.seed_everything(5, verbose=False)
    train, test = load()
    train_dl = DataLoader(train, batch_size=32, shuffle=True)
    val_dl = DataLoader(test, batch_size=64)
    model = Progression(10)
    trainer = L.Trainer(max_epochs=25, accelerator="cpu", logger=False, enable_checkpointing=False,
                        enable_progress_bar=False, enable_model_summary=False, num_sanity_val_steps=0)
    trainer.fit(model, train_dl, val_dl)
    print("last validation mse:", round(trainer.callback_metrics["val_mse"].item(), 4))

    preds, truth = [], []
    with torch.no_grad():
        for x, y in DataLoader(test, batch_size=8):
            preds.append(model(x))
            truth.append(y)
    preds, truth = torch.cat(preds), torch.cat(truth)
    mse = F.mse_loss(preds, truth).item()
    r2 = 1 - mse / truth.var(unbiased=False).item()
    print(f"report  mse {mse:.4f}  R2 {r2:.3f}")


if __name__ == "__main__":
    main()
