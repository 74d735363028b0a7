"""A denoising autoencoder of the digits under Lightning."""
import lightning as L
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Denoiser(L.LightningModule):
    def __init__(self, noise=0.2):
        super().__init__()
        self.noise = noise
        self.encoder = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 16))
        self.decoder = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 64), nn.Sigmoid())

    def forward(self, x):
        return self.decoder(self.encoder(x))

    def training_step(self, batch, _):
        (x,) = batch
        loss = nn.functional.mse_loss(self(x + self.noise * torch.randn_like(x)), x)
        self.log("train_loss", loss)
        return loss

    def validation_step(self, batch, _):
        (x,) = batch
        self.log("val_loss", nn.functional.mse_loss(self(x), x))

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=2e-3)


def main():
    L.seed_everything(0)
    x = torch.tensor(load_digits().data, dtype=torch.float32) / 16
    train = DataLoader(TensorDataset(x[:1400]), batch_size=32, shuffle=True)
    val = DataLoader(TensorDataset(x[1400:]), batch_size=100)
    trainer = L.Trainer(max_epochs=8, accelerator="cpu", logger=False, enable_checkpointing=False,
                        enable_progress_bar=False, enable_model_summary=False)
    trainer.fit(Denoiser(), train, val)
    print("val loss", float(trainer.callback_metrics["val_loss"]))


if __name__ == "__main__":
    main()
