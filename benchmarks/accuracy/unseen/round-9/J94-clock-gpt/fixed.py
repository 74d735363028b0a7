"""Teach a tiny GPT-2 (random weights) to count on a clock face: `<bos> step start start+step ...` modulo 10.
Sequences differ in length; some (step, start) pairs are kept for validation."""
import argparse

import torch
from torch.utils.data import DataLoader, Dataset
from transformers import GPT2Config, GPT2LMHeadModel, get_cosine_schedule_with_warmup
from transformers.utils import logging

logging.set_verbosity_error()
PAD, BOS = 10, 11


class ClockDataset(Dataset):
    def __init__(self, starts, seed):
        g = torch.Generator().manual_seed(seed)
        self.rows = []
        for a, b in starts:
            seq = [BOS, a, b]
            for _ in range(int(torch.randint(7, 14, (1,), generator=g))):
                seq.append((seq[-1] + a) % 10)
            self.rows.append(torch.tensor(seq))

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return self.rows[i]


def collate(rows):
    width = max(len(r) for r in rows)
    ids = torch.full((len(rows), width), PAD)
    for i, r in enumerate(rows):
        ids[i, :len(r)] = r
    mask = (ids != PAD).long()
    labels = ids.masked_fill(mask == 0, -100)
    return {"input_ids": ids, "attention_mask": mask, "labels": labels}


@torch.no_grad()
def continue_sequences(model, starts, steps=6):
    """Greedy continuation of `<bos> step start`; share of digits that are right."""
    model.eval()
    ids = torch.tensor([[BOS, a, b] for a, b in starts])
    for _ in range(steps):
        nxt = model(input_ids=ids).logits[:, -1].argmax(-1)
        ids = torch.cat([ids, nxt[:, None]], dim=1)
    want = (ids[:, 2:-1] + ids[:, 1:2]) % 10
    return (ids[:, 3:] == want).float().mean().item()


@torch.no_grad()
def valid_loss(model, loader):
    model.eval()
    tot, n = 0.0, 0
    for batch in loader:
        k = len(batch["input_ids"])
        tot += model(**batch).loss.item() * k
        n += k
    return tot / n


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=6)
    p.add_argument("--batch-size", type=int, default=40)
    p.add_argument("--lr", type=float, default=3e-3)
    p.add_argument("--copies", type=int, default=40)
    a = p.parse_args()
    torch.manual_seed(0)
    pairs = [(i, j) for i in (1, 2, 3) for j in range(10)]
    perm = torch.randperm(30).tolist()
    train_pairs = [pairs[i] for i in perm[:24]]
    valid_pairs = [pairs[i] for i in perm[24:]]
    train = DataLoader(ClockDataset(train_pairs * a.copies, 1), a.batch_size, shuffle=True, collate_fn=collate)
    valid = DataLoader(ClockDataset(valid_pairs * 10, 2), 60, collate_fn=collate)

    cfg = GPT2Config(vocab_size=12, n_positions=24, n_embd=64, n_layer=2, n_head=4, resid_pdrop=0.0,
                     embd_pdrop=0.0, attn_pdrop=0.0, bos_token_id=BOS, eos_token_id=None, pad_token_id=PAD)
    model = GPT2LMHeadModel(cfg)
    opt = torch.optim.AdamW(model.parameters(), lr=a.lr, weight_decay=0.01)
    sched = get_cosine_schedule_with_warmup(opt, 10, a.epochs * len(train))
    for epoch in range(a.epochs):
        model.train()
        running = 0.0
        for batch in train:
            loss = model(**batch).loss
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            opt.step()
            sched.step()
            opt.zero_grad()
            running += loss.item()
        print(f"epoch {epoch}  loss {running / len(train):.4f}  valid loss {valid_loss(model, valid):.4f}  "
              f"digits right {continue_sequences(model, valid_pairs):.3f}")


if __name__ == "__main__":
    main()
