import logging
import tempfile
import warnings
from pathlib import Path

import lightning as L
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)


class Backbone(nn.Module):
    def __init__(self, dim=32, width=64):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(dim, width), nn.BatchNorm1d(width), nn.ReLU(),
            nn.Linear(width, width), nn.BatchNorm1d(width), nn.ReLU(),
        )

    def forward(self, x):
        return self.layers(x)

    @classmethod
    def from_file(cls, path):
        net = cls()
        net.load_state_dict(torch.load(path))
        return net.eval()


class PumpModel(L.LightningModule):
    def __init__(self, path, classes):
        super().__init__()
        self.backbone = Backbone.from_file(path).train()
        self.head = nn.Linear(64, classes)

    def forward(self, x):
        return self.head(self.backbone(x))

    def training_step(self, batch, _):
        x, y = batch
        loss = F.cross_entropy(self(x), y)
        self.log("loss", loss)
        return loss

    def validation_step(self, batch, _):
        x, y = batch
        self.log("val_acc", (self(x).argmax(1) == y).float().mean())

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=2e-3)


def pumps(n, centres, gain=1.0, offset=0.0):
    y = torch.randint(0, len(centres), (n,))
    return gain * (centres[y] + 1.6 * torch.randn(n, 32)) + offset, y


def pretrain(path):
    """The test bench: small signals, plenty of recordings."""
    centres = torch.randn(10, 32)
    net, head = Backbone(), nn.Linear(64, 10)
    opt = torch.optim.Adam([*net.parameters(), *head.parameters()], lr=3e-3)
    for _ in range(150):
        x, y = pumps(64, centres, gain=0.02)
        loss = F.cross_entropy(head(net(x)), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    torch.save(net.state_dict(), path)


def main():
    L.seed_everything(5, verbose=False)
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as tmp:
        path = Path(tmp) / "backbone.pt"
        pretrain(path)
        model = PumpModel(path, classes=5)
    centres = torch.randn(5, 32)
    train = DataLoader(TensorDataset(*pumps(400, centres, offset=1.0)), batch_size=40, shuffle=True, drop_last=True)
    val = DataLoader(TensorDataset(*pumps(600, centres, offset=1.0)), batch_size=200)
    trainer = L.Trainer(max_epochs=6, accelerator="cpu", logger=False, enable_checkpointing=False,
                        enable_progress_bar=False, enable_model_summary=False)
    trainer.fit(model, train, val)
    m = trainer.callback_metrics
    print(f"train loss {m['loss']:.4f} val accuracy {m['val_acc']:.3f}")


if __name__ == "__main__":
    main()
