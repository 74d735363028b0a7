import logging
import warnings
import torch
import torch.nn as nn
import lightning as L
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
L.seed_everything(0, verbose=False)
torch.set_num_threads(1)
EPOCHS = 4
centers = torch.randn(10, 24)


def blobs(n):
    y = torch.randint(0, 10, (n,))
    return TensorDataset(centers[y] + 1.1 * torch.randn(n, 24), y)


class LitBlobs(L.LightningModule):
    def __init__(self, steps_per_epoch):
        super().__init__()
        self.steps_per_epoch = steps_per_epoch
        self.net = nn.Sequential(nn.Linear(24, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
        self.curve = []

    def training_step(self, batch, _):
        x, y = batch
        loss = nn.functional.cross_entropy(self.net(x), y)
        self.log("train_loss", loss)
        return loss

    def validation_step(self, batch, _):
        x, y = batch
        self.log("val_acc", (self.net(x).argmax(1) == y).float().mean())

    def on_validation_epoch_end(self):
        self.curve.append(round(float(self.trainer.callback_metrics["val_acc"]), 3))

    def configure_optimizers(self):
        opt = torch.optim.SGD(self.parameters(), lr=1e-3, momentum=0.9)
        sched = torch.optim.lr_scheduler.OneCycleLR(
            opt, max_lr=0.1, epochs=EPOCHS, steps_per_epoch=self.steps_per_epoch, div_factor=200)
        return [opt], [sched]  # <- PM608


train_dl = DataLoader(blobs(1600), 32, shuffle=True)
val_dl = DataLoader(blobs(400), 100)
model = LitBlobs(len(train_dl))
trainer = L.Trainer(max_epochs=EPOCHS, accelerator="cpu", logger=False, enable_checkpointing=False,
                    enable_progress_bar=False, enable_model_summary=False, num_sanity_val_steps=0)
trainer.fit(model, train_dl, val_dl)
print("val acc per epoch", model.curve)
print("final loss %.3f" % float(trainer.callback_metrics["train_loss"]))
