"""Which of two marker tokens comes first in a sequence? An LSTM under Lightning."""
import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

VOCAB, LENGTH = 24, 16


def make(n):
    tokens = torch.randint(2, VOCAB, (n, LENGTH))
    first = torch.randint(0, LENGTH // 2, (n,))
    second = torch.randint(LENGTH // 2, LENGTH, (n,))
    label = torch.randint(0, 2, (n,))
    rows = torch.arange(n)
    tokens[rows, first] = torch.where(label == 1, 0, 1)
    tokens[rows, second] = torch.where(label == 1, 1, 0)
    return TensorDataset(tokens, label)


class Order(L.LightningModule):
    def __init__(self, width=48):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, width)
        self.lstm = nn.LSTM(width, width)
        self.out = nn.Linear(width, 2)

    def forward(self, tokens):
        hidden, _ = self.lstm(self.embed(tokens))
        return self.out(hidden[:, -1])

    def training_step(self, batch, _):
        tokens, label = batch
        return nn.functional.cross_entropy(self(tokens), label)

    def validation_step(self, batch, _):
        tokens, label = batch
        self.log("val_acc", (self(tokens).argmax(1) == label).float().mean())

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=3e-3)


if __name__ == "__main__":
    L.seed_everything(1)
    train = DataLoader(make(2000), batch_size=50, shuffle=True)
    val = DataLoader(make(400), batch_size=50)
    trainer = L.Trainer(max_epochs=5, accelerator="cpu", logger=False, enable_checkpointing=False,
                        enable_progress_bar=False, enable_model_summary=False)
    trainer.fit(Order(), train, val)
    print("val accuracy", float(trainer.callback_metrics["val_acc"]))
