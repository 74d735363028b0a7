"""Character-level GPT-2 on generated arithmetic logs."""
import random
from dataclasses import dataclass

import torch
from torch.utils.data import DataLoader, Dataset
from transformers import GPT2Config, GPT2LMHeadModel
from transformers.utils import logging

logging.set_verbosity_error()


@dataclass
class Settings:
    block: int = 32
    batch: int = 16
    steps: int = 240
    lr: float = 2e-3
    seed: int = 15


def make_log(n_lines, seed):
    rng = random.Random(seed)
    users = ["alice", "bob", "carol", "dave"]
    verbs = ["reads", "writes", "drops"]
    lines = []
    for _ in range(n_lines):
        a = rng.randint(0, 9)
        lines.append(f"{rng.choice(users)} {rng.choice(verbs)} page {a}; next {(a + 1) % 10}\n")
    return "".join(lines)


class Windows(Dataset):
    def __init__(self, ids, block):
        self.ids, self.block = ids, block

    def __len__(self):
        return len(self.ids) - self.block - 1

    def __getitem__(self, i):
        x = self.ids[i:i + self.block]
        y = self.ids[i:i + self.block]
        return {"input_ids": x, "labels": y}


@torch.no_grad()
def next_char_accuracy(model, ids, block):
    model.eval()
    usable = (len(ids) // block) * block
    chunks = ids[:usable].view(-1, block)[:60]
    logits = model(input_ids=chunks).logits[:, 8:-1]
    return (logits.argmax(-1) == chunks[:, 9:]).float().mean().item()


def endless(loader):
    while True:
        yield from loader


def main():
    cfg = Settings()
    torch.manual_seed(cfg.seed)
    text = make_log(900, cfg.seed)
    chars = sorted(set(text))
    stoi = {c: i for i, c in enumerate(chars)}
    ids = torch.tensor([stoi[c] for c in text])
    cut = int(0.9 * len(ids))
    train_ids, val_ids = ids[:cut], ids[cut:]

    model = GPT2LMHeadModel(GPT2Config(
        vocab_size=len(chars), n_positions=cfg.block, n_embd=48, n_layer=2, n_head=4,
        bos_token_id=None, eos_token_id=None, embd_pdrop=0.0, attn_pdrop=0.0, resid_pdrop=0.0))
    loader = DataLoader(Windows(train_ids, cfg.block), batch_size=cfg.batch, shuffle=True)
    optimizer = torch.optim.AdamW(model.parameters(), lr=cfg.lr)
    warmup = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda s: min(1.0, (s + 1) / 20))

    model.train()
    running = 0.0
    for step, batch in enumerate(endless(loader), 1):
        loss = model(**batch).loss
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        warmup.step()
        running += loss.item()
        if step % 40 == 0:
            acc = next_char_accuracy(model, val_ids, cfg.block)
            model.train()
            print(f"step {step:4d} loss {running / 40:.4f} val next-char accuracy {acc:.3f}")
            running = 0.0
        if step == cfg.steps:
            break


if __name__ == "__main__":
    main()
