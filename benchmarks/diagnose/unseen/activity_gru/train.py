"""Wearable activity recognition from accelerometer windows, trained with the HF Trainer."""
import numpy as np
import torch
from torch import nn
from torch.utils.data import Dataset
from transformers import Trainer, TrainerCallback, TrainingArguments, set_seed

ACTIVITIES = ["rest", "walk", "run", "stairs", "cycle"]


def simulate_windows(n, seed, length=40):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, len(ACTIVITIES), n)
    freq = np.array([0.2, 1.8, 2.8, 1.5, 1.1])
    amp = np.array([0.15, 0.9, 1.6, 1.0, 0.6])
    tilt = np.array([0.0, 0.1, 0.25, 0.55, -0.45])
    t = np.arange(length) / 20.0
    x = np.empty((n, length, 3), np.float32)
    for i, c in enumerate(y):
        f = freq[c] * rng.normal(1, 0.12)
        a = amp[c] * rng.lognormal(0, 0.25)
        p = rng.uniform(0, 2 * np.pi)
        x[i, :, 0] = a * np.sin(2 * np.pi * f * t + p)
        x[i, :, 1] = 0.6 * a * np.cos(2 * np.pi * f * t + p) + tilt[c] * rng.normal(1, 0.4)
        x[i, :, 2] = 1.0 + 0.4 * a * np.sin(4 * np.pi * f * t + p)
    x += rng.normal(0, 0.35, x.shape).astype(np.float32)
    return x, y


class WindowDataset(Dataset):
    def __init__(self, x, y, mean, std):
        self.x = torch.tensor((x - mean) / std, dtype=torch.float32)
        self.y = torch.tensor(y)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return {"signal": self.x[i], "labels": self.y[i]}


class ActivityModel(nn.Module):
    def __init__(self, channels=3, hidden=32, classes=len(ACTIVITIES)):
        super().__init__()
        self.gru = nn.GRU(channels, hidden, batch_first=True, bidirectional=True)
        self.norm = nn.LayerNorm(2 * hidden)
        self.classifier = nn.Sequential(nn.Linear(2 * hidden, 32), nn.ReLU(), nn.Dropout(0.1),
                                        nn.Linear(32, classes))

    def forward(self, signal, labels=None):
        _, h_n = self.gru(signal)
        summary = h_n.view(signal.size(0), -1)
        logits = self.classifier(self.norm(summary))
        loss = None
        if labels is not None:
            loss = nn.functional.cross_entropy(logits, labels)
        return {"loss": loss, "logits": logits}


def compute_metrics(pred):
    guess = pred.predictions.argmax(-1)
    return {"accuracy": float((guess == pred.label_ids).mean())}


class PrintCallback(TrainerCallback):
    def on_log(self, args, state, control, logs=None, **kwargs):
        keep = {k: round(float(v), 4) for k, v in (logs or {}).items()
                if k in ("loss", "eval_loss", "eval_accuracy")}
        if keep:
            print(f"step {state.global_step}", keep)


def main():
    set_seed(21)
    x_train, y_train = simulate_windows(1280, 1)
    x_val, y_val = simulate_windows(320, 2)
    mean, std = x_train.mean((0, 1)), x_train.std((0, 1))
    args = TrainingArguments(
        output_dir="/tmp/activity_gru_out",
        num_train_epochs=6,
        per_device_train_batch_size=32,
        per_device_eval_batch_size=64,
        learning_rate=4e-3,
        weight_decay=0.01,
        lr_scheduler_type="cosine",
        warmup_steps=20,
        eval_strategy="epoch",
        logging_steps=40,
        save_strategy="no",
        report_to="none",
        disable_tqdm=True,
        use_cpu=True,
        seed=21,
    )
    trainer = Trainer(
        model=ActivityModel(),
        args=args,
        train_dataset=WindowDataset(x_train, y_train, mean, std),
        eval_dataset=WindowDataset(x_val, y_val, mean, std),
        compute_metrics=compute_metrics,
        callbacks=[PrintCallback()],
    )
    trainer.train()
    print("final", {k: round(v, 4) for k, v in trainer.evaluate().items() if k in ("eval_loss", "eval_accuracy")})


if __name__ == "__main__":
    main()
