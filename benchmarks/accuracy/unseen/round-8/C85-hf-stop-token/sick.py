"""A tiny causal model that repeats a letter n times, trained with the HF Trainer."""
import random

import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import (DataCollatorForLanguageModeling, GPT2Config, GPT2LMHeadModel,
                          PreTrainedTokenizerFast, Trainer, TrainingArguments, set_seed)
from transformers.trainer_callback import PrinterCallback

LETTERS = "abcdef"
WORDS = ["<pad>", "<eos>", "<unk>", ":"] + [str(n) for n in range(1, 8)] + list(LETTERS)


def build_tokenizer():
    core = Tokenizer(models.WordLevel({w: i for i, w in enumerate(WORDS)}, unk_token="<unk>"))
    core.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=core, unk_token="<unk>", eos_token="<eos>")
    tokenizer.pad_token = tokenizer.eos_token
    return tokenizer


def example(rng):
    n, letter = rng.randint(1, 7), rng.choice(LETTERS)
    return f"{n} {letter} : " + " ".join([letter] * n) + " <eos>"


class Lines(torch.utils.data.Dataset):
    def __init__(self, tokenizer, size, seed):
        rng = random.Random(seed)
        self.rows = [tokenizer(example(rng), return_token_type_ids=False) for _ in range(size)]

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return self.rows[i]


@torch.no_grad()
def exact_match(model, tokenizer):
    model.eval()
    prompts = [(n, c) for n in range(1, 8) for c in LETTERS]
    batch = tokenizer([f"{n} {c} :" for n, c in prompts], return_tensors="pt", return_token_type_ids=False)
    out = model.generate(**batch, max_new_tokens=10, do_sample=False,
                         eos_token_id=tokenizer.eos_token_id, pad_token_id=tokenizer.pad_token_id)
    right = stopped = 0
    for (n, c), row in zip(prompts, out[:, 3:].tolist()):
        words = tokenizer.convert_ids_to_tokens(row)
        if "<eos>" in words:
            stopped += 1
            right += words[:words.index("<eos>")] == [c] * n
    return right / len(prompts), stopped / len(prompts)


class Report(PrinterCallback):
    def on_log(self, args, state, control, logs=None, **kwargs):
        for key in ("loss", "eval_loss"):
            if key in logs:
                print(f"step {state.global_step} {key} {float(logs[key]):.4f}")


def main():
    set_seed(3)
    tokenizer = build_tokenizer()
    model = GPT2LMHeadModel(GPT2Config(
        vocab_size=len(WORDS), n_positions=32, n_embd=48, n_layer=2, n_head=4,
        bos_token_id=tokenizer.eos_token_id, eos_token_id=tokenizer.eos_token_id))
    args = TrainingArguments(
        output_dir="/tmp/hf-stop-token", max_steps=260, per_device_train_batch_size=24,
        learning_rate=4e-3, warmup_steps=20, logging_steps=65, eval_strategy="steps", eval_steps=130,
        save_strategy="no", report_to=[], use_cpu=True, disable_tqdm=True, seed=3)
    trainer = Trainer(
        model=model, args=args,
        data_collator=DataCollatorForLanguageModeling(tokenizer, mlm=False),
        train_dataset=Lines(tokenizer, 3000, 1), eval_dataset=Lines(tokenizer, 200, 2))
    trainer.remove_callback(PrinterCallback)
    trainer.add_callback(Report)
    trainer.train()
    match, stopped = exact_match(model, tokenizer)
    print(f"generation: stopped {stopped:.2f} exact match {match:.2f}")


if __name__ == "__main__":
    main()
