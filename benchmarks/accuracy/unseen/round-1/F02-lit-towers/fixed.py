import logging
import warnings
import torch
import torch.nn as nn
import lightning as L
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
L.seed_everything(1, verbose=False)
torch.set_num_threads(1)


def clicks(n):
    ids = torch.randint(0, 50, (n, 4))
    w = torch.sin(ids.float() * torch.tensor([0.9, 1.7, 2.3, 3.1]))
    return TensorDataset(ids, (w[:, 0] * w[:, 1] + w[:, 2] + 0.5 * w[:, 3] > 0).float())


class ClickModel(L.LightningModule):
    def __init__(self, fields=4, vocab=50, dim=2):
        super().__init__()
        self.tables = nn.ModuleList([nn.Embedding(vocab, dim) for _ in range(fields)])
        self.top = nn.Sequential(nn.Linear(fields * dim, 24), nn.ReLU(), nn.Linear(24, 1))

    def forward(self, ids):
        cols = [emb(ids[:, i]) for i, emb in enumerate(self.tables)]
        return self.top(torch.cat(cols, 1)).squeeze(1)

    def training_step(self, batch, _):
        ids, y = batch
        return nn.functional.binary_cross_entropy_with_logits(self(ids), y)

    def validation_step(self, batch, _):
        ids, y = batch
        self.log("val_acc", ((self(ids) > 0).float() == y).float().mean())

    def on_validation_epoch_end(self):
        print("epoch", self.current_epoch, "val_acc %.3f" % float(self.trainer.callback_metrics["val_acc"]))

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-2)


trainer = L.Trainer(max_epochs=8, accelerator="cpu", logger=False, enable_checkpointing=False,
                    enable_progress_bar=False, enable_model_summary=False, num_sanity_val_steps=0)
trainer.fit(ClickModel(), DataLoader(clicks(2000), 50, shuffle=True), DataLoader(clicks(500), 250))
