import numpy as np
import torch
from torch.utils.data import Dataset
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments, set_seed

set_seed(0)
torch.set_num_threads(1)


class Complaints(Dataset):
    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        self.ids = torch.randint(10, 60, (n, 16), generator=g)
        self.labels = torch.randint(0, 4, (n,), generator=g)
        for i in range(n):
            spots = torch.randperm(15, generator=g)[:3] + 1
            self.ids[i, spots] = 2 + self.labels[i]
        self.ids[:, 0] = 1

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        return {"input_ids": self.ids[i], "attention_mask": torch.ones(16, dtype=torch.long), "labels": self.labels[i]}


def compute_metrics(p):
    return {"accuracy": float((np.argmax(p.predictions, axis=1) == p.label_ids).mean())}


config = BertConfig(vocab_size=60, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64,
                    max_position_embeddings=20, num_labels=4)
model = BertForSequenceClassification(config)

args = TrainingArguments(
    output_dir="./results",
    num_train_epochs=6,
    per_device_train_batch_size=32,
    per_device_eval_batch_size=64,
    learning_rate=1e-3,
    warmup_steps=10,
    weight_decay=0.01,
    logging_steps=20,
    eval_strategy="epoch",
    save_strategy="no",
    report_to=[],
    use_cpu=True,
    disable_tqdm=True,
)
trainer = Trainer(model=model, args=args, train_dataset=Complaints(960, 1), eval_dataset=Complaints(300, 2),
                  compute_metrics=compute_metrics)
trainer.train()
print("final accuracy", round(trainer.evaluate()["eval_accuracy"], 3))
