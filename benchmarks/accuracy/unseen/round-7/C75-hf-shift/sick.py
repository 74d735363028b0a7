"""Tiny GPT-2 from scratch on periodic melodies with the Hugging Face Trainer."""
import tempfile

import numpy as np
import torch
from torch.utils.data import Dataset
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments, set_seed

VOCAB, LENGTH = 32, 24


def melody(rng):
    scale = rng.permutation(VOCAB - 1)[:4] + 1
    out = np.tile(scale, LENGTH // 4 + 2)
    return out[: LENGTH + 1]


class Melodies(Dataset):
    def __init__(self, n, seed):
        rng = np.random.default_rng(seed)
        self.rows = torch.tensor(np.stack([melody(rng) for _ in range(n)]))

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        row = self.rows[i]
        return {"input_ids": row[:-1], "labels": row[1:]}


def continue_accuracy(model, data):
    model.eval()
    rows = data.rows
    with torch.no_grad():
        logits = model(input_ids=rows[:, :12]).logits
    return (logits[:, -1].argmax(-1) == rows[:, 12]).float().mean().item()


def main():
    set_seed(0)
    train, val = Melodies(1600, 0), Melodies(200, 1)
    config = GPT2Config(vocab_size=VOCAB, n_positions=32, n_embd=64, n_layer=2, n_head=4,
                        resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0, bos_token_id=0, eos_token_id=0)
    model = GPT2LMHeadModel(config)
    with tempfile.TemporaryDirectory() as out:
        args = TrainingArguments(
            output_dir=out, per_device_train_batch_size=32, num_train_epochs=3, learning_rate=3e-3,
            logging_steps=50, save_strategy="no", report_to=[], disable_tqdm=True, use_cpu=True,
            lr_scheduler_type="linear", warmup_steps=20, seed=0,
        )
        trainer = Trainer(model=model, args=args, train_dataset=train, eval_dataset=val)
        trainer.train()
        print("eval loss:", round(trainer.evaluate()["eval_loss"], 4))
    print(f"next note accuracy: {continue_accuracy(model, val):.3f}")


if __name__ == "__main__":
    main()
