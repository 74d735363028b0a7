"""Heteroscedastic regression with MC dropout (Gal & Ghahramani; Kendall & Gal): negative log-densities, dropout on at test time by design."""
import logging
import warnings

import lightning as L
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
torch.set_num_threads(1)


class MCDropoutRegressor(L.LightningModule):
    def __init__(self, samples=20):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(3, 64), nn.SiLU(), nn.Dropout(0.05), nn.Linear(64, 64), nn.SiLU(), nn.Dropout(0.05), nn.Linear(64, 2))
        self.samples = samples
        self.history = []

    def forward(self, x):
        mean, log_var = self.net(x).chunk(2, -1)
        return mean.squeeze(-1), log_var.squeeze(-1).clamp(-8, 4)

    def training_step(self, batch, _):
        x, y = batch
        mean, log_var = self(x)
        loss = 0.5 * (log_var + (y - mean) ** 2 * torch.exp(-log_var)).mean()
        self.history.append(loss.item())
        return loss

    def validation_step(self, batch, _):
        x, y = batch
        for m in self.modules():
            if isinstance(m, nn.Dropout):
                m.train()
        draws = [self(x) for _ in range(self.samples)]
        means = torch.stack([m for m, _ in draws])
        total_var = means.var(0) + torch.stack([v.exp() for _, v in draws]).mean(0)
        z = (y - means.mean(0)) / total_var.sqrt()
        self.log_dict({"rmse": (y - means.mean(0)).square().mean().sqrt(), "cover90": (z.abs() < 1.645).float().mean()})

    def on_train_epoch_end(self):
        m = self.trainer.callback_metrics
        print(f"epoch {self.current_epoch} nll {sum(self.history) / len(self.history):.4f} rmse {m['rmse']:.4f} cover90 {m['cover90']:.3f}")
        self.history.clear()

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=3e-3)


def sample(n):
    x = torch.rand(n, 3) * 4 - 2
    noise = 0.02 + 0.1 * torch.sigmoid(3 * x[:, 2])
    y = torch.sin(2 * x[:, 0]) * 0.5 + 0.2 * x[:, 1] + noise * torch.randn(n)
    return TensorDataset(x, y)


if __name__ == "__main__":
    L.seed_everything(5, verbose=False)
    train, val = sample(3000), sample(800)
    L.Trainer(max_epochs=14, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False,
              num_sanity_val_steps=0).fit(MCDropoutRegressor(), DataLoader(train, 64, shuffle=True), DataLoader(val, 800))
