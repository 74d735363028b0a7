"""Digits as sequences of rows: a custom model with the Hugging Face Trainer."""
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import Dataset
from transformers import Trainer, TrainingArguments


class Digits(Dataset):
    def __init__(self, lo, hi):
        digits = load_digits()
        self.pixels = torch.tensor(digits.images[lo:hi], dtype=torch.float32) / 16
        self.labels = torch.tensor(digits.target[lo:hi])

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        return {"pixels": self.pixels[i], "labels": self.labels[i]}


class RowReader(nn.Module):
    def __init__(self):
        super().__init__()
        self.project = nn.Linear(8, 32)
        self.position = nn.Parameter(torch.zeros(1, 8, 32))
        layer = nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(32, 10)

    def forward(self, pixels, labels=None):
        hidden = self.encoder(self.project(pixels) + self.position).mean(1)
        logits = self.head(hidden)
        loss = None if labels is None else nn.functional.cross_entropy(logits, labels)
        return {"loss": loss, "logits": logits} if loss is not None else {"logits": logits}


if __name__ == "__main__":
    torch.manual_seed(0)
    args = TrainingArguments(output_dir="out", num_train_epochs=6, per_device_train_batch_size=32, learning_rate=2e-3,
                             warmup_steps=20, report_to=[], save_strategy="no", logging_steps=50, use_cpu=True,
                             disable_tqdm=True, seed=1)
    trainer = Trainer(RowReader(), args, train_dataset=Digits(0, 1400), eval_dataset=Digits(1400, 1797),
                      compute_metrics=lambda p: {"acc": float((p.predictions.argmax(1) == p.label_ids).mean())})
    trainer.train()
    print(trainer.evaluate())
