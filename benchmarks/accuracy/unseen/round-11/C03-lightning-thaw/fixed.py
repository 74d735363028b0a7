import logging
import warnings

import lightning as L
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore")
logging.getLogger("lightning").setLevel(logging.ERROR)
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
torch.set_num_threads(1)


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(1, 16, 3, padding=1), nn.ReLU())
        self.stage1 = nn.Sequential(nn.Conv2d(16, 32, 3, stride=2, padding=1), nn.ReLU())
        self.stage2 = nn.Sequential(nn.Conv2d(32, 32, 3, stride=2, padding=1), nn.ReLU())

    def forward(self, x):
        return self.stage2(self.stage1(self.stem(x))).flatten(1)


class RotationPretext(L.LightningModule):
    """Self-supervised warm start: which of four rotations was applied?"""

    def __init__(self, encoder):
        super().__init__()
        self.encoder = encoder
        self.head = nn.Linear(128, 4)

    def training_step(self, batch, _):
        x, = batch
        k = torch.randint(0, 4, (len(x),))
        x = torch.stack([torch.rot90(im, int(r), (1, 2)) for im, r in zip(x, k)])
        return F.cross_entropy(self.head(self.encoder(x)), k)

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), 1e-3)


class DigitClassifier(L.LightningModule):
    def __init__(self, encoder, unfreeze_at=3, lr=1e-3):
        super().__init__()
        self.encoder = encoder
        self.head = nn.Linear(128, 10)
        self.unfreeze_at, self.lr = unfreeze_at, lr
        self.encoder.requires_grad_(False)

    def on_train_epoch_start(self):
        self.seen = []
        if self.current_epoch == self.unfreeze_at:
            self.encoder.requires_grad_(True)
            self.optimizers().param_groups[0]["lr"] = self.lr
            print(f"epoch {self.current_epoch}: encoder unfrozen")

    def training_step(self, batch, _):
        x, y = batch
        loss = F.cross_entropy(self.head(self.encoder(x)), y)
        self.seen.append(loss.item())
        return loss

    def validation_step(self, batch, _):
        x, y = batch
        self.log("acc", (self.head(self.encoder(x)).argmax(1) == y).float().mean())

    def on_train_epoch_end(self):
        acc = self.trainer.callback_metrics["acc"]
        print(f"epoch {self.current_epoch} train_loss {sum(self.seen) / len(self.seen):.4f} val_acc {acc:.4f}")

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=self.lr)


def trainer(epochs):
    return L.Trainer(max_epochs=epochs, accelerator="cpu", logger=False, enable_checkpointing=False,
                     enable_progress_bar=False, enable_model_summary=False)


if __name__ == "__main__":
    L.seed_everything(3, verbose=False)
    d = load_digits()
    x = torch.tensor(d.images, dtype=torch.float32).unsqueeze(1) / 16
    y = torch.tensor(d.target)
    order = torch.randperm(len(y))
    x, y = x[order], y[order]
    enc = Encoder()
    trainer(2).fit(RotationPretext(enc), DataLoader(TensorDataset(x[:1300]), 64, shuffle=True))
    clf = DigitClassifier(enc)
    trainer(12).fit(clf, DataLoader(TensorDataset(x[:1300], y[:1300]), 64, shuffle=True), DataLoader(TensorDataset(x[1300:], y[1300:]), 497))
