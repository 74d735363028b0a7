"""Tiny GPT-2 fine-tuned with the Trainer to answer 'repeat N word :' prompts."""
import random
import warnings

import torch
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import WhitespaceSplit
from torch.utils.data import Dataset
from transformers import (DataCollatorForLanguageModeling, GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast,
                          Trainer, TrainerCallback, TrainingArguments, set_seed)
from transformers.utils import logging

warnings.filterwarnings("ignore")
logging.set_verbosity_error()

WORDS = ["tea", "milk", "rice", "corn", "salt", "leek", "plum", "kale", "pear", "figs"]
SPECIAL = ["<pad>", "<eos>", "<unk>"]


def build_tokenizer():
    vocab = SPECIAL + ["repeat", ":"] + [str(i) for i in range(1, 7)] + WORDS
    raw = Tokenizer(WordLevel({w: i for i, w in enumerate(vocab)}, unk_token="<unk>"))
    raw.pre_tokenizer = WhitespaceSplit()
    return PreTrainedTokenizerFast(tokenizer_object=raw, eos_token="<eos>", unk_token="<unk>", pad_token="<eos>")


class Phrases(Dataset):
    def __init__(self, tokenizer, items):
        self.rows = [tokenizer(f"{p} {a} {tokenizer.eos_token}") for p, a in items]

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return {k: self.rows[i][k] for k in ("input_ids", "attention_mask")}


def make_items():
    items = []
    for n in range(1, 7):
        for w in WORDS:
            items.append((f"repeat {n} {w} :", " ".join([w] * n)))
    random.shuffle(items)
    return items[12:], items[:12]


@torch.no_grad()
def exact_match(model, tokenizer, items):
    model.eval()
    ids = tokenizer([p for p, _ in items], return_tensors="pt")
    out = model.generate(input_ids=ids["input_ids"], attention_mask=ids["attention_mask"], max_new_tokens=10,
                         do_sample=False, pad_token_id=tokenizer.pad_token_id,
                         eos_token_id=tokenizer.eos_token_id)
    texts = tokenizer.batch_decode(out[:, ids["input_ids"].shape[1]:], skip_special_tokens=True)
    return sum(t.split() == a.split() for t, (_, a) in zip(texts, items)) / len(items), texts[0]


class Echo(TrainerCallback):
    def on_log(self, args, state, control, logs=None, **kwargs):
        if "loss" in logs or "eval_loss" in logs:
            key = "loss" if "loss" in logs else "eval_loss"
            print(f"step {state.global_step:4d}  {key} {logs[key]:.4f}")


def main():
    set_seed(5)
    tokenizer = build_tokenizer()
    train_items, valid_items = make_items()
    config = GPT2Config(vocab_size=len(tokenizer), n_positions=24, n_embd=64, n_layer=2, n_head=4,
                        resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0,
                        bos_token_id=tokenizer.eos_token_id, eos_token_id=tokenizer.eos_token_id)
    model = GPT2LMHeadModel(config)
    args = TrainingArguments(
        output_dir="/tmp/hf_repeat", per_device_train_batch_size=16, num_train_epochs=70, learning_rate=3e-3,
        warmup_steps=20, weight_decay=0.01, logging_steps=35, eval_strategy="steps", eval_steps=70,
        save_strategy="no", report_to="none", disable_tqdm=True, use_cpu=True, seed=5)
    trainer = Trainer(
        model=model, args=args, train_dataset=Phrases(tokenizer, train_items),
        eval_dataset=Phrases(tokenizer, valid_items),
        data_collator=DataCollatorForLanguageModeling(tokenizer, mlm=False), callbacks=[Echo()])
    trainer.train()
    score, sample = exact_match(model, tokenizer, valid_items)
    print(f"held-out exact match {score:.2f}   {valid_items[0][0]!r} -> {sample!r}")
    print(f"training exact match {exact_match(model, tokenizer, train_items)[0]:.2f}")


if __name__ == "__main__":
    main()
