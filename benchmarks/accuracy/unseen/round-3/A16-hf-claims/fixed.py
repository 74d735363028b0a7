"""Insurance claims: short token sequence plus tabular columns, trained with the Hugging Face Trainer."""
import tempfile

import numpy as np
import torch
from datasets import Dataset
from torch import nn
from transformers import Trainer, TrainingArguments, default_data_collator, set_seed

VOCAB, SEQ, N_NUM = 200, 16, 4


def build_split(n, seed):
    rng = np.random.default_rng(seed)
    ids = rng.integers(5, VOCAB, (n, SEQ))
    amount, age, prior, days = rng.normal(size=(4, n))
    injury = rng.random(n) < 0.5                       # the text mentions an injury
    ids[injury, rng.integers(0, SEQ, n)[injury]] = 3
    risk = np.where(injury, amount + 0.7 * prior, 0.8 * days - amount) + 0.3 * age
    label = np.digitize(risk, [-0.6, 0.6])
    return Dataset.from_dict({
        "input_ids": ids.tolist(),
        "attention_mask": np.ones_like(ids).tolist(),
        "tabular": np.stack([amount, age, prior, days], 1).astype(np.float32).tolist(),
        "labels": label.tolist(),
    })


class ClaimModel(nn.Module):
    """Text encoder and tabular columns are fused before the head; tabular data is optional at inference."""

    def __init__(self, dim=32, classes=3):
        super().__init__()
        self.dim = dim
        self.emb = nn.Embedding(VOCAB, dim)
        self.text = nn.Sequential(nn.Linear(dim, dim), nn.ReLU())
        self.tab = nn.Sequential(nn.Linear(N_NUM, dim), nn.ReLU())
        self.head = nn.Sequential(nn.Linear(2 * dim, 64), nn.ReLU(), nn.Linear(64, classes))

    def forward(self, input_ids, attention_mask=None, labels=None, **features):
        h = self.text(self.emb(input_ids))
        mask = attention_mask.unsqueeze(-1).bool()
        text = h.masked_fill(~mask, -1e4).amax(1)
        tab = text.new_zeros(len(text), self.dim)
        if "tabular" in features:
            tab = self.tab(features["tabular"])
        logits = self.head(torch.cat([text, tab], dim=-1))
        out = {"logits": logits}
        if labels is not None:
            out = {"loss": nn.functional.cross_entropy(logits, labels), **out}
        return out


def compute_metrics(pred):
    guess = pred.predictions.argmax(-1)
    return {"accuracy": float((guess == pred.label_ids).mean())}


def main():
    set_seed(13)
    train, test = build_split(2000, 0), build_split(500, 1)
    args = TrainingArguments(
        output_dir=tempfile.mkdtemp(),
        num_train_epochs=6,
        per_device_train_batch_size=50,
        per_device_eval_batch_size=250,
        learning_rate=4e-3,
        lr_scheduler_type="cosine",
        weight_decay=0.01,
        save_strategy="no",
        eval_strategy="epoch",
        logging_steps=40,
        report_to=[],
        remove_unused_columns=False,
        disable_tqdm=True,
        use_cpu=True,
    )
    trainer = Trainer(
        model=ClaimModel(),
        args=args,
        train_dataset=train,
        eval_dataset=test,
        data_collator=default_data_collator,
        compute_metrics=compute_metrics,
    )
    trainer.train()
    result = trainer.evaluate()
    majority = max(np.bincount(test["labels"])) / len(test)
    print(f"test accuracy {result['eval_accuracy']:.3f} (majority class {majority:.3f})")


if __name__ == "__main__":
    main()
