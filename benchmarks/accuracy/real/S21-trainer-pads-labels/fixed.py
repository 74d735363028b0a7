"""Causal LM with the HF Trainer: padding is in the labels."""
import os
import warnings
os.environ.update(HF_HUB_OFFLINE="1", TOKENIZERS_PARALLELISM="false")
warnings.filterwarnings("ignore")
import torch
from torch.utils.data import Dataset
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments

PAD, V, L = 0, 32, 20
torch.manual_seed(0)


class Sequences(Dataset):
    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        self.rows = []
        for _ in range(n):
            m = int(torch.randint(5, L, (1,), generator=g))
            start = int(torch.randint(1, V, (1,), generator=g))
            self.rows.append((torch.arange(m) * 3 + start) % (V - 1) + 1)

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        row = self.rows[i]
        ids = torch.full((L,), PAD)
        ids[:len(row)] = row
        labels = ids.clone()
        labels[len(row):] = -100
        return {"input_ids": ids, "attention_mask": (torch.arange(L) < len(row)).long(), "labels": labels}


model = GPT2LMHeadModel(GPT2Config(vocab_size=V, n_positions=L, n_embd=32, n_layer=2, n_head=2, bos_token_id=1, eos_token_id=1))
args = TrainingArguments("out", num_train_epochs=3, per_device_train_batch_size=16, learning_rate=2e-3, report_to=[], save_strategy="no",
                         logging_steps=40, disable_tqdm=True, use_cpu=True, eval_strategy="epoch")
Trainer(model=model, args=args, train_dataset=Sequences(480, 0), eval_dataset=Sequences(64, 1)).train()
