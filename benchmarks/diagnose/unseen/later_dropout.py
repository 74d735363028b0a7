"""Yes or no from a table, with a generous amount of dropout; Lightning."""
import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Table(L.LightningModule):
    def __init__(self, dropout=0.98):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Dropout(dropout), nn.Linear(32, 32), nn.ReLU(),
                                 nn.Dropout(dropout), nn.Linear(32, 1))

    def training_step(self, batch, _):
        x, y = batch
        return nn.functional.binary_cross_entropy_with_logits(self.net(x).squeeze(1), y)

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-3)


if __name__ == "__main__":
    L.seed_everything(3)
    x = torch.randn(1600, 12)
    y = ((x[:, 0] + x[:, 1] * x[:, 2]) > 0).float()
    L.Trainer(max_epochs=6, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False,
              enable_model_summary=False).fit(Table(), DataLoader(TensorDataset(x, y), 32, shuffle=True))
