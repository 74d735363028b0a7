"""Trainer with a class-weighted loss on digits, where two classes were thinned out."""
import warnings

import numpy as np
import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import train_test_split
from torch import nn
from torch.utils.data import Dataset
from transformers import Trainer, TrainerCallback, TrainingArguments, set_seed
from transformers.utils import logging

warnings.filterwarnings("ignore")
logging.set_verbosity_error()


class DigitRows(Dataset):
    def __init__(self, x, y):
        self.x, self.y = torch.tensor(x, dtype=torch.float32), torch.tensor(y)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return {"pixels": self.x[i], "labels": self.y[i]}


class RowNet(nn.Module):
    def __init__(self, width=96):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(64, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(),
                                  nn.Linear(width, width), nn.ReLU())
        self.out = nn.Linear(width, 10)

    def forward(self, pixels, labels=None):
        return {"logits": self.out(self.body(pixels))}


def make_loss(class_weight):
    def loss_fn(outputs, labels, num_items_in_batch=None):
        per_sample = F.cross_entropy(outputs["logits"], labels, reduction="none") * class_weight[labels]
        if num_items_in_batch is None:
            return per_sample.mean()
        return per_sample.sum() / num_items_in_batch

    return loss_fn


def thin_out(x, y, classes=(3, 8), keep=0.25, seed=0):
    rng = np.random.default_rng(seed)
    mask = ~np.isin(y, classes) | (rng.random(len(y)) < keep)
    return x[mask], y[mask]


def compute_metrics(pred):
    guess = pred.predictions.argmax(-1)
    return {"balanced_accuracy": balanced_accuracy_score(pred.label_ids, guess)}


class Printer(TrainerCallback):
    def on_log(self, args, state, control, logs=None, **kwargs):
        keep = {k: round(v, 4) for k, v in logs.items() if k in ("loss", "eval_loss", "eval_balanced_accuracy")}
        if keep:
            print(f"step {state.global_step:4d}  {keep}")


def main():
    set_seed(0)
    x, y = load_digits(return_X_y=True)
    xtr, xva, ytr, yva = train_test_split(x, y, test_size=0.3, stratify=y, random_state=0)
    xtr, ytr = thin_out(xtr, ytr)
    mu, sd = xtr.mean(), xtr.std()
    train, valid = DigitRows((xtr - mu) / sd, ytr), DigitRows((xva - mu) / sd, yva)
    counts = np.bincount(ytr, minlength=10)
    weight = torch.tensor(len(ytr) / (10 * counts), dtype=torch.float32)

    args = TrainingArguments(
        output_dir="/tmp/hf_weighted", per_device_train_batch_size=16, gradient_accumulation_steps=8,
        num_train_epochs=20, learning_rate=0.15, optim="sgd", optim_args="momentum=0.9", weight_decay=0.0,
        lr_scheduler_type="linear", warmup_steps=10, max_grad_norm=0.0, logging_steps=20, eval_strategy="steps",
        eval_steps=40, save_strategy="no", report_to="none", disable_tqdm=True, seed=0, use_cpu=True,
        dataloader_drop_last=False, remove_unused_columns=False, label_names=["labels"])
    trainer = Trainer(model=RowNet(), args=args, train_dataset=train, eval_dataset=valid,
                      compute_metrics=compute_metrics, compute_loss_func=make_loss(weight),
                      callbacks=[Printer()])
    trainer.train()
    result = trainer.evaluate()
    print(f"final  eval loss {result['eval_loss']:.4f}  balanced accuracy {result['eval_balanced_accuracy']:.4f}")


if __name__ == "__main__":
    main()
