"""Soil moisture regression with Lightning; sensors come in their physical units."""
import warnings

import lightning as L
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore")


def field_data(n, seed):
    rng = np.random.default_rng(seed)
    temp = rng.normal(288, 9, n)                 # kelvin
    rain = rng.gamma(2.0, 8.0, n)                # mm in the last week
    clay = rng.uniform(5, 55, n)                 # percent
    press = rng.normal(101_300, 700, n)          # pascal
    ndvi = rng.uniform(0.1, 0.9, n)
    elev = rng.uniform(0, 1500, n)
    x = np.stack([temp, rain, clay, press, ndvi, elev], 1)
    y = (0.25 * np.tanh(rain / 20) * (0.5 + clay / 60) - 0.08 * np.tanh((temp - 288) / 9)
         + 0.12 * ndvi * np.cos(elev / 500) + 0.03 * (press - 101_300) / 700 + rng.normal(0, 0.01, n))
    return torch.tensor(x, dtype=torch.float32), torch.tensor((y - 0.2) / 0.12, dtype=torch.float32)


class SoilNet(nn.Module):
    """The first BatchNorm takes care of the units, so no scaler file has to be shipped."""
    def __init__(self, n_in, width=64):
        super().__init__()
        self.inp = nn.BatchNorm1d(n_in)
        self.body = nn.Sequential(
            nn.Linear(n_in, width), nn.BatchNorm1d(width), nn.ReLU(),
            nn.Linear(width, width), nn.BatchNorm1d(width), nn.ReLU(),
            nn.Linear(width, 1),
        )

    def forward(self, x):
        return self.body(self.inp(x)).squeeze(-1)


class LitSoil(L.LightningModule):
    def __init__(self, n_in, lr=3e-3):
        super().__init__()
        self.save_hyperparameters()
        self.net = SoilNet(n_in)
        self.errors = []

    def forward(self, x):
        return self.net(x)

    def training_step(self, batch, _):
        x, y = batch
        loss = nn.functional.mse_loss(self(x), y)
        self.log("train_loss", loss)
        return loss

    def validation_step(self, batch, _):
        x, y = batch
        self.errors.append((self(x) - y).pow(2))

    def on_validation_epoch_end(self):
        mse = torch.cat(self.errors).mean().item()
        self.errors.clear()
        print(f"epoch {self.current_epoch} val mse {mse:.4f}  R2 {1 - mse / self.trainer.datamodule_var:.3f}")

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=self.hparams.lr, weight_decay=1e-4)


def describe(model, example):
    """Print the output shape and parameter count before a long run."""
    model.eval()
    with torch.no_grad():
        out = model(example)
    total = sum(p.numel() for p in model.parameters())
    print(f"input {tuple(example.shape)} -> output {tuple(out.shape)}, {total} parameters")


def main():
    L.seed_everything(0)
    xtr, ytr = field_data(3000, 0)
    xva, yva = field_data(600, 1)
    train = DataLoader(TensorDataset(xtr, ytr), batch_size=100, shuffle=True)
    val = DataLoader(TensorDataset(xva, yva), batch_size=200)
    model = LitSoil(xtr.size(1))
    describe(model, xtr[:8])
    trainer = L.Trainer(max_epochs=8, accelerator="cpu", logger=False, enable_checkpointing=False,
                        enable_progress_bar=False, enable_model_summary=False, num_sanity_val_steps=0)
    trainer.datamodule_var = yva.var().item()
    trainer.fit(model, train, val)


if __name__ == "__main__":
    main()
