# Fine-tune a toy GPT-2 on "copy the letters back, reversed" instructions with the HF Trainer,
# then check that generations stop where they should.
import os

os.environ["TOKENIZERS_PARALLELISM"] = "false"
import torch
from torch.utils.data import Dataset
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainerCallback, TrainingArguments, set_seed

torch.set_num_threads(1)
set_seed(21)

VOCAB = ["<eos>", "<sep>", "<pad>"] + list("abcdefgh")
EOS, SEP = 0, 1
PAD = EOS


def make_example(g):
    n = int(torch.randint(2, 6, (1,), generator=g))
    letters = torch.randint(3, len(VOCAB), (n,), generator=g).tolist()
    return letters + [SEP], letters[::-1] + [EOS]


class Instructions(Dataset):
    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        self.rows = [make_example(g) for _ in range(n)]

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        prompt, answer = self.rows[i]
        return {"input_ids": prompt + answer, "prompt_len": len(prompt)}


class CompletionCollator:
    def __init__(self, pad_token_id):
        self.pad_token_id = pad_token_id

    def __call__(self, features):
        longest = max(len(f["input_ids"]) for f in features)
        ids = torch.full((len(features), longest), self.pad_token_id)
        att = torch.zeros_like(ids)
        for i, f in enumerate(features):
            ids[i, :len(f["input_ids"])] = torch.tensor(f["input_ids"])
            att[i, :len(f["input_ids"])] = 1
        labels = ids.clone()
        labels[labels == self.pad_token_id] = -100
        for i, f in enumerate(features):
            labels[i, :f["prompt_len"]] = -100
        return {"input_ids": ids, "attention_mask": att, "labels": labels}


class Show(TrainerCallback):
    def on_log(self, args, state, control, logs=None, **kw):
        if "loss" in logs:
            print(f"step {state.global_step} loss {float(logs['loss']):.4f}")


@torch.no_grad()
def check(model, data, limit=12):
    model.eval()
    right = stopped = 0
    for prompt, answer in data.rows:
        ids = torch.tensor([prompt])
        new = []
        for _ in range(limit):
            nxt = int(model(input_ids=ids).logits[0, -1].argmax())
            new.append(nxt)
            if nxt == EOS:
                stopped += 1
                break
            ids = torch.cat([ids, torch.tensor([[nxt]])], 1)
        right += new == answer
    return right / len(data), stopped / len(data)


config = GPT2Config(vocab_size=len(VOCAB), n_positions=32, n_embd=48, n_layer=2, n_head=4, bos_token_id=EOS, eos_token_id=EOS,
                    pad_token_id=PAD, resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0)
model = GPT2LMHeadModel(config)
args = TrainingArguments(output_dir="/tmp/sft_stop", per_device_train_batch_size=64, max_steps=300, learning_rate=3e-3, warmup_steps=20,
                         logging_steps=50, report_to=[], save_strategy="no", disable_tqdm=True, use_cpu=True, remove_unused_columns=False)
trainer = Trainer(model=model, args=args, train_dataset=Instructions(4000, 0), data_collator=CompletionCollator(config.pad_token_id), callbacks=[Show()])
trainer.train()
exact, stopped = check(model, Instructions(40, 99))
print(f"exact match {exact:.3f}  stopped {stopped:.3f}")
