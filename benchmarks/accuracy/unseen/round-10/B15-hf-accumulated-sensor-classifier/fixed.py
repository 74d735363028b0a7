"""Fine-grained activity classification with the Hugging Face Trainer and a class-weighted loss."""
import tempfile

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import make_classification
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from torch.utils.data import Dataset
from transformers import PretrainedConfig, PreTrainedModel, Trainer, TrainerCallback, TrainingArguments
from transformers.modeling_outputs import SequenceClassifierOutput

N_CLASSES = 6


class SensorConfig(PretrainedConfig):
    model_type = "sensor-mlp"

    def __init__(self, n_features=30, hidden=64, num_labels=N_CLASSES, **kwargs):
        super().__init__(num_labels=num_labels, **kwargs)
        self.n_features, self.hidden = n_features, hidden


class SensorModel(PreTrainedModel):
    config_class = SensorConfig

    def __init__(self, config):
        super().__init__(config)
        self.net = nn.Sequential(
            nn.Linear(config.n_features, config.hidden), nn.ReLU(),
            nn.Linear(config.hidden, config.hidden), nn.ReLU(),
            nn.Linear(config.hidden, config.num_labels),
        )
        self.post_init()

    def _init_weights(self, module):
        if isinstance(module, nn.Linear):
            nn.init.kaiming_normal_(module.weight, nonlinearity="relu")
            nn.init.zeros_(module.bias)

    def forward(self, features, labels=None, **kwargs):
        return SequenceClassifierOutput(logits=self.net(features))


class Windows(Dataset):
    def __init__(self, x, y):
        self.x, self.y = torch.tensor(x, dtype=torch.float32), torch.tensor(y)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return {"features": self.x[i], "labels": self.y[i]}


def make_loss(class_weights):
    def weighted_loss(outputs, labels, num_items_in_batch=None):
        per_item = F.cross_entropy(outputs.logits, labels, weight=class_weights, reduction="none")
        if num_items_in_batch is None:
            return per_item.mean()
        return per_item.sum() / num_items_in_batch
    return weighted_loss


def metrics(pred):
    guess = pred.predictions.argmax(-1)
    recalls = [(guess[pred.label_ids == c] == c).mean() for c in range(N_CLASSES)]
    return {"accuracy": float((guess == pred.label_ids).mean()), "macro_recall": float(np.mean(recalls))}


class PrintLogs(TrainerCallback):
    def on_log(self, args, state, control, logs=None, **kwargs):
        print(f"step {state.global_step}", {k: round(v, 4) for k, v in logs.items() if k in ("loss", "grad_norm", "eval_accuracy", "eval_macro_recall")})


def main():
    torch.manual_seed(0)
    x, y = make_classification(2400, 30, n_informative=16, n_classes=N_CLASSES, class_sep=1.5,
                               weights=[0.3, 0.2, 0.2, 0.1, 0.1, 0.1], random_state=0)
    xtr, xva, ytr, yva = train_test_split(x, y, test_size=0.25, stratify=y, random_state=0)
    scaler = StandardScaler().fit(xtr)
    train, val = Windows(scaler.transform(xtr), ytr), Windows(scaler.transform(xva), yva)
    counts = np.bincount(ytr, minlength=N_CLASSES)
    weights = torch.tensor(len(ytr) / (N_CLASSES * counts), dtype=torch.float32)

    with tempfile.TemporaryDirectory() as out:
        args = TrainingArguments(
            output_dir=out, num_train_epochs=12, per_device_train_batch_size=8, gradient_accumulation_steps=8,
            learning_rate=0.5, optim="sgd", lr_scheduler_type="cosine", max_grad_norm=0.0, logging_steps=28, eval_strategy="epoch",
            per_device_eval_batch_size=200, save_strategy="no", report_to=[], disable_tqdm=True, use_cpu=True, seed=0,
        )
        trainer = Trainer(
            model=SensorModel(SensorConfig()), args=args, train_dataset=train, eval_dataset=val,
            compute_loss_func=make_loss(weights), compute_metrics=metrics, callbacks=[PrintLogs()],
        )
        trainer.train()
        print("final", {k: round(v, 4) for k, v in trainer.evaluate().items() if "acc" in k or "recall" in k})


if __name__ == "__main__":
    main()
