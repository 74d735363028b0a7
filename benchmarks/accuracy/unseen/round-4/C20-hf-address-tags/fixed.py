import random
import tempfile

import numpy as np
import torch
from torch.utils.data import Dataset
from transformers import BertConfig, BertForTokenClassification, Trainer, TrainingArguments, set_seed

LABELS = ["O", "STREET", "CITY", "CODE"]
VOCAB = 90


def line(rnd):
    """An address line; most lines are short, and about every fifth word carries a tag."""
    n = 60 if rnd.random() < 0.06 else rnd.randrange(4, 9)
    ids = [rnd.randrange(2, VOCAB) for _ in range(n)]
    return ids, [1 + w // 5 % 3 if w % 5 == 0 else 0 for w in ids]


class Lines(Dataset):
    def __init__(self, n, seed):
        rnd = random.Random(seed)
        self.rows = [line(rnd) for _ in range(n)]

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        ids, tags = self.rows[i]
        return {"input_ids": ids, "labels": tags}


def collate(rows):
    width = max(len(r["input_ids"]) for r in rows)
    ids = torch.zeros(len(rows), width, dtype=torch.long)
    labels = torch.full((len(rows), width), -100, dtype=torch.long)
    mask = torch.zeros(len(rows), width, dtype=torch.long)
    for i, r in enumerate(rows):
        n = len(r["input_ids"])
        ids[i, :n] = torch.tensor(r["input_ids"])
        labels[i, :n] = torch.tensor(r["labels"])
        mask[i, :n] = 1
    return {"input_ids": ids, "attention_mask": mask, "labels": labels}


def metrics(p):
    pred, gold = p.predictions.argmax(-1), p.label_ids
    keep = gold != -100
    entity = gold > 0
    return {"token_accuracy": float((pred == gold)[keep].mean()), "entity_recall": float((pred == gold)[entity].mean())}


def main():
    set_seed(3)
    torch.set_num_threads(1)
    config = BertConfig(vocab_size=VOCAB, hidden_size=32, num_hidden_layers=1, num_attention_heads=4,
                        intermediate_size=64, max_position_embeddings=64, num_labels=len(LABELS), pad_token_id=0)
    model = BertForTokenClassification(config)
    with tempfile.TemporaryDirectory() as out:
        args = TrainingArguments(out, num_train_epochs=3, per_device_train_batch_size=32, per_device_eval_batch_size=64,
                                 learning_rate=2e-3, report_to=[], save_strategy="no", logging_steps=40,
                                 use_cpu=True, disable_tqdm=True, seed=3)
        trainer = Trainer(model, args, train_dataset=Lines(800, 0), eval_dataset=Lines(250, 1), data_collator=collate,
                          compute_metrics=metrics)
        trainer.train()
        m = trainer.evaluate()
    print(f"token accuracy {m['eval_token_accuracy']:.3f} entity recall {m['eval_entity_recall']:.3f}")


if __name__ == "__main__":
    main()
