import logging
import warnings
import torch
import torch.nn as nn
import lightning as L
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
L.seed_everything(2, verbose=False)
torch.set_num_threads(1)


def ecg(n):
    t = torch.arange(64.0)
    y = torch.randint(0, 3, (n,))
    f = torch.tensor([0.25, 0.4, 0.55])[y][:, None]
    x = torch.sin(f * t + 6.28 * torch.rand(n, 1)) + 0.5 * torch.randn(n, 64)
    return TensorDataset((x * 2 + 12).unsqueeze(1), y)


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            nn.BatchNorm1d(1), nn.Conv1d(1, 12, 7, 2), nn.BatchNorm1d(12), nn.ReLU(),
            nn.Conv1d(12, 16, 5, 2), nn.BatchNorm1d(16), nn.ReLU(), nn.AdaptiveAvgPool1d(1), nn.Flatten())

    def forward(self, x):
        return self.net(x)


def get_encoder():
    enc = Encoder()
    with torch.no_grad():
        width = enc.eval()(torch.zeros(1, 1, 64)).shape[1]
    return enc, width  # <- PM611


class EcgModule(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.enc, width = get_encoder()
        self.fc = nn.Linear(width, 3)

    def training_step(self, batch, _):
        loss = nn.functional.cross_entropy(self.fc(self.enc(batch[0])), batch[1])
        self.log("loss", loss)
        return loss

    def validation_step(self, batch, _):
        self.log("acc", (self.fc(self.enc(batch[0])).argmax(1) == batch[1]).float().mean())

    def on_train_epoch_end(self):
        m = self.trainer.callback_metrics
        print(f"epoch {self.current_epoch} loss {float(m['loss']):.3f} val acc {float(m['acc']):.3f}")

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.005, momentum=0.9)


trainer = L.Trainer(max_epochs=6, accelerator="cpu", logger=False, enable_checkpointing=False,
                    enable_progress_bar=False, enable_model_summary=False, num_sanity_val_steps=0)
trainer.fit(EcgModule(), DataLoader(ecg(900), 30, shuffle=True), DataLoader(ecg(300), 100))
