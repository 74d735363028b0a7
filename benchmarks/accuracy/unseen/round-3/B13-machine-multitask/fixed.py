"""Multi-task network (Lightning): quality class and wear regression from vibration spectra."""
import lightning as L
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


def machine_data(n, seed):
    rng = np.random.default_rng(seed)
    fault = rng.integers(0, 4, n)
    wear = rng.uniform(0, 1, n)
    freq = np.linspace(0, 1, 40)
    spec = np.zeros((n, 40))
    for i in range(n):
        peak = 0.15 + 0.2 * fault[i]
        spec[i] = np.exp(-((freq - peak) / 0.05) ** 2) * rng.uniform(0.3, 1.0)
        spec[i] += (0.2 + wear[i]) * np.exp(-((freq - 0.9) / 0.08) ** 2) + 0.5 * wear[i] * freq
    spec += rng.normal(0, 0.25, spec.shape)
    x = ((spec - spec.mean()) / spec.std()).astype(np.float32)
    return TensorDataset(torch.from_numpy(x), torch.from_numpy(fault), torch.from_numpy(wear.astype(np.float32)))


class MultiTask(L.LightningModule):
    def __init__(self, lr=2e-3):
        super().__init__()
        self.automatic_optimization = False
        self.lr = lr
        self.trunk = nn.Sequential(nn.Linear(40, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU())
        self.fault_head = nn.Linear(64, 4)
        self.wear_head = nn.Linear(64, 1)
        self.history = []

    def forward(self, x):
        h = self.trunk(x)
        return self.fault_head(h), self.wear_head(h).squeeze(-1)

    def training_step(self, batch, _):
        x, fault, wear = batch
        opt = self.optimizers()
        logits, w = self(x)
        losses = {"fault": F.cross_entropy(logits, fault), "wear": 5.0 * F.mse_loss(w, wear)}
        opt.zero_grad()
        for name, loss in losses.items():
            self.manual_backward(loss, retain_graph=True)
            self.log(f"train_{name}", loss)
        nn.utils.clip_grad_norm_(self.parameters(), 5.0)
        opt.step()

    def validation_step(self, batch, _):
        x, fault, wear = batch
        logits, w = self(x)
        self.log("val_acc", (logits.argmax(1) == fault).float().mean(), on_epoch=True)
        self.log("val_wear_mae", (w - wear).abs().mean(), on_epoch=True)

    def on_validation_epoch_end(self):
        m = self.trainer.callback_metrics
        if not self.trainer.sanity_checking:
            print(f"epoch {self.current_epoch}: fault acc {m['val_acc']:.3f} wear MAE {m['val_wear_mae']:.3f}")

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=self.lr, weight_decay=1e-4)


def main():
    L.seed_everything(11, verbose=False)
    train = DataLoader(machine_data(1200, 0), batch_size=48, shuffle=True, drop_last=True)
    val = DataLoader(machine_data(400, 1), batch_size=200)
    trainer = L.Trainer(max_epochs=6, accelerator="cpu", logger=False, enable_checkpointing=False,
                        enable_progress_bar=False, enable_model_summary=False)
    trainer.fit(MultiTask(), train, val)


if __name__ == "__main__":
    main()
