"""Four surface textures with a plain (no norm, no skip) deep conv net in Lightning."""
import logging
import warnings

import lightning as L
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)


def make_textures(n, seed, size=16):
    rng = np.random.default_rng(seed)
    yy, xx = np.mgrid[:size, :size]
    images, labels = [], []
    for _ in range(n):
        c = rng.integers(4)
        phase, freq = rng.uniform(0, 6.28, 2), rng.uniform(0.9, 1.4)
        if c == 0:
            img = np.sin(freq * xx + phase[0])
        elif c == 1:
            img = np.sin(freq * yy + phase[0])
        elif c == 2:
            img = np.sin(freq * xx + phase[0]) * np.sin(freq * yy + phase[1]) * 1.4
        else:
            img = np.sin(freq * np.hypot(xx - size * phase[0] / 6.28, yy - size * phase[1] / 6.28))
        images.append(img + rng.normal(0, 0.5, (size, size)))
        labels.append(c)
    return TensorDataset(torch.tensor(np.array(images), dtype=torch.float32).unsqueeze(1), torch.tensor(labels))


class PlainNet(L.LightningModule):
    def __init__(self, channels=(16, 16, 24, 24, 32, 32, 32, 32, 32, 32), lr=5e-4):
        super().__init__()
        self.save_hyperparameters()
        layers, cin = [], 1
        for i, c in enumerate(channels):
            layers += [nn.Conv2d(cin, c, 3, padding=1, stride=2 if i in (2, 4) else 1), nn.ReLU()]
            cin = c
        self.body = nn.Sequential(*layers)
        self.head = nn.Linear(cin, 4)
        self.apply(self._init_weights)

    @staticmethod
    def _init_weights(module):
        if isinstance(module, (nn.Conv2d, nn.Linear)):
            nn.init.normal_(module.weight, mean=0.0, std=0.01)
            nn.init.zeros_(module.bias)

    def forward(self, x):
        return self.head(self.body(x).mean(dim=(2, 3)))

    def training_step(self, batch, _):
        x, y = batch
        loss = F.cross_entropy(self(x), y)
        self.log("train_loss", loss, on_step=False, on_epoch=True)
        return loss

    def validation_step(self, batch, _):
        x, y = batch
        logits = self(x)
        self.log("val_loss", F.cross_entropy(logits, y))
        self.log("val_acc", (logits.argmax(1) == y).float().mean())

    def on_train_epoch_end(self):
        m = self.trainer.callback_metrics
        print(f"epoch {self.current_epoch + 1}: train {m['train_loss']:.4f} val {m['val_loss']:.4f} "
              f"acc {m['val_acc']:.3f}")

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=self.hparams.lr)


def main():
    L.seed_everything(0, verbose=False)
    torch.set_num_threads(1)
    train = DataLoader(make_textures(960, 1), batch_size=32, shuffle=True)
    val = DataLoader(make_textures(320, 2), batch_size=80)
    trainer = L.Trainer(max_epochs=5, accelerator="cpu", logger=False, enable_checkpointing=False,
                        enable_progress_bar=False, enable_model_summary=False, num_sanity_val_steps=0)
    trainer.fit(PlainNet(), train, val)


if __name__ == "__main__":
    main()
