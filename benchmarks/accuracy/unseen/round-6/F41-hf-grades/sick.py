import numpy as np
import torch
from transformers import (DistilBertConfig, DistilBertForSequenceClassification, Trainer, TrainerCallback,
                          TrainingArguments, set_seed)

torch.set_num_threads(1)
set_seed(42)
GRADES = ["poor", "fair", "good"]


def build_split(n, seed):
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(n):
        label = int(rng.integers(0, 3))
        ids = rng.integers(20, 80, size=14)
        ids[rng.choice(14, 3, replace=False)] = rng.integers(5 * label + 1, 5 * label + 6, size=3)
        rows.append({"input_ids": ids.tolist(), "attention_mask": [1] * 14, "labels": label})
    return rows


config = DistilBertConfig(vocab_size=80, dim=32, n_layers=2, n_heads=4, hidden_dim=64, max_position_embeddings=16,
                          num_labels=1)  # <- PM514
model = DistilBertForSequenceClassification(config)


def collate(rows):
    return {k: torch.tensor([r[k] for r in rows], dtype=torch.float if k == "labels" else torch.long) for k in rows[0]}


def compute_metrics(eval_pred):
    logits, labels = eval_pred
    predictions = np.argmax(logits, axis=-1)
    return {"accuracy": float((predictions == labels).mean())}


args = TrainingArguments(output_dir="grades", learning_rate=1e-3, num_train_epochs=5, per_device_train_batch_size=32,
                         per_device_eval_batch_size=100, eval_strategy="epoch", save_strategy="no", logging_steps=25,
                         report_to=[], use_cpu=True, disable_tqdm=True)
trainer = Trainer(model=model, args=args, train_dataset=build_split(900, 1), eval_dataset=build_split(300, 2),
                  data_collator=collate, compute_metrics=compute_metrics)
trainer.train()
print(trainer.evaluate())
