"""Calls per hour: Poisson regression with an own likelihood, written with Lightning."""
import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class PoissonRegression(L.LightningModule):
    def __init__(self, features=6, lr=5e-3):
        super().__init__()
        self.save_hyperparameters()
        self.net = nn.Sequential(nn.Linear(features, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, x):
        rate = torch.exp(self.net(x).clamp(-10, 10)).squeeze(1)
        return rate

    def training_step(self, batch, batch_idx):
        x, calls = batch
        rate = self(x)
        loss = (rate - calls * torch.log(rate)).mean()
        self.log("train_loss", loss)
        return loss

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=self.hparams.lr)


def call_centre(n):
    x = torch.rand(n, 6)
    x[:, 1] = x[:, 1] * 2
    calls = torch.poisson(torch.exp(1 + x[:, 0] - 0.5 * x[:, 1]))
    unseen = torch.randperm(n)[:4]
    x[unseen, 5] = -4e3
    return TensorDataset(x, calls)


if __name__ == "__main__":
    L.seed_everything(1)
    loader = DataLoader(call_centre(1600), batch_size=32, shuffle=True)
    trainer = L.Trainer(max_epochs=4, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False)
    model = PoissonRegression()
    trainer.fit(model, loader)
    print("finished, loss", trainer.callback_metrics["train_loss"].item())
