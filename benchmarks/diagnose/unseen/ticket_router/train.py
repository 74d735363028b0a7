import json
import os
import random
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
import numpy as np
import torch
from pathlib import Path
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments, set_seed
from transformers.trainer_callback import PrinterCallback

HERE = Path(__file__).parent
set_seed(17)
rows = [json.loads(l) for l in open(HERE / "tickets.jsonl")]
names = sorted({r["queue"] for r in rows})
random.Random(0).shuffle(rows)
vocab = {"[PAD]": 0, "[UNK]": 1, "[CLS]": 2}
for r in rows[:1200]:
    for w in r["text"].split():
        vocab.setdefault(w, len(vocab))
MAX_LEN = 20


class Tickets(torch.utils.data.Dataset):
    def __init__(self, rows):
        self.items = []
        for r in rows:
            ids = [2] + [vocab.get(w, 1) for w in r["text"].split()]
            ids = ids[:MAX_LEN]
            pad = MAX_LEN - len(ids)
            self.items.append(dict(input_ids=ids + [0] * pad, attention_mask=[1] * len(ids) + [0] * pad,
                                   labels=names.index(r["queue"])))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return {k: torch.tensor(v) for k, v in self.items[i].items()}


def metrics(p):
    return {"accuracy": float((p.predictions.argmax(-1) == p.label_ids).mean())}


config = BertConfig(vocab_size=len(vocab), hidden_size=48, num_hidden_layers=1, num_attention_heads=2,
                    intermediate_size=96, max_position_embeddings=64, num_labels=len(names))
args = TrainingArguments(output_dir="/tmp/ticket_router_out", num_train_epochs=5, per_device_train_batch_size=32,
                         per_device_eval_batch_size=100, learning_rate=2e-3, eval_strategy="epoch",
                         logging_strategy="epoch", save_strategy="no", report_to=[], disable_tqdm=True, use_cpu=True, seed=17)
trainer = Trainer(model=BertForSequenceClassification(config), args=args, train_dataset=Tickets(rows[:1200]),
                  eval_dataset=Tickets(rows[1200:]), compute_metrics=metrics)
trainer.train()
