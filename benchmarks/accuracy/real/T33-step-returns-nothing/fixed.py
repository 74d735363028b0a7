"""Lightning regression on a tabular set."""
import logging
import warnings
import lightning as L
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
L.seed_everything(0, verbose=False)
x = torch.randn(600, 10)
y = x @ torch.randn(10, 1) + 0.1 * torch.randn(600, 1)


class Reg(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 1))

    def training_step(self, batch, idx):
        a, b = batch
        loss = nn.functional.mse_loss(self.net(a), b)
        self.log("train_loss", loss)
        return loss

    def validation_step(self, batch, idx):
        a, b = batch
        self.log("val_loss", nn.functional.mse_loss(self.net(a), b))

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=5e-3)


trainer = L.Trainer(max_epochs=4, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False)
trainer.fit(Reg(), DataLoader(TensorDataset(x[:500], y[:500]), batch_size=25, shuffle=True), DataLoader(TensorDataset(x[500:], y[500:]), batch_size=50))
print(trainer.callback_metrics)
