"""Canned-reply bot: a tiny GPT-2 learns which scripted reply belongs to a request, and when the reply is over."""
import random

import torch
from torch.optim import AdamW
from torch.utils.data import DataLoader, Dataset
from transformers import GPT2Config, GPT2LMHeadModel
from transformers.utils import logging

logging.set_verbosity_error()
EOS, SEP = 0, 1
FIRST_WORD, N_WORDS = 2, 60
N_INTENTS, N_FILLERS = 16, 12
PAD = EOS


def build_scripts(rng):
    words = range(FIRST_WORD, FIRST_WORD + N_WORDS)
    return [rng.choices(words, k=rng.randint(2, 7)) for _ in range(N_INTENTS)]


class Requests(Dataset):
    """(filler, intent, filler) SEP reply EOS"""

    def __init__(self, scripts, combos):
        base = FIRST_WORD + N_WORDS
        self.items = []
        for intent, f1, f2 in combos:
            prompt = [base + N_INTENTS + f1, base + intent, base + N_INTENTS + f2, SEP]
            self.items.append((prompt, scripts[intent] + [EOS]))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


def collate(batch):
    width = max(len(p) + len(r) for p, r in batch)
    input_ids = torch.full((len(batch), width), PAD)
    attention_mask = torch.zeros(len(batch), width, dtype=torch.long)
    for row, (prompt, reply) in enumerate(batch):
        ids = prompt + reply
        input_ids[row, :len(ids)] = torch.tensor(ids)
        attention_mask[row, :len(ids)] = 1
    labels = input_ids.clone()
    labels[labels == PAD] = -100
    for row, (prompt, _) in enumerate(batch):
        labels[row, :len(prompt)] = -100
    return {"input_ids": input_ids, "attention_mask": attention_mask, "labels": labels}


@torch.no_grad()
def exact_match(model, items, max_new=12):
    model.eval()
    hits, lengths = 0, 0
    for prompt, reply in items:
        ids = torch.tensor([prompt])
        out = []
        for _ in range(max_new):
            token = model(input_ids=ids).logits[0, -1].argmax().item()
            out.append(token)
            if token == EOS:
                break
            ids = torch.cat([ids, torch.tensor([[token]])], dim=1)
        hits += out == reply
        lengths += len(out)
    return hits / len(items), lengths / len(items)


def main():
    rng = random.Random(4)
    torch.manual_seed(4)
    scripts = build_scripts(rng)
    combos = [(i, a, b) for i in range(N_INTENTS) for a in range(N_FILLERS) for b in range(N_FILLERS)]
    rng.shuffle(combos)
    train, test = Requests(scripts, combos[:1600]), Requests(scripts, combos[1600:1650])
    loader = DataLoader(train, batch_size=32, shuffle=True, collate_fn=collate)

    config = GPT2Config(vocab_size=FIRST_WORD + N_WORDS + N_INTENTS + N_FILLERS, n_positions=32, n_embd=48, n_layer=2,
                        n_head=4, bos_token_id=EOS, eos_token_id=EOS, embd_pdrop=0.0, attn_pdrop=0.0, resid_pdrop=0.0)
    model = GPT2LMHeadModel(config)
    optimizer = AdamW(model.parameters(), lr=2e-3, weight_decay=0.01)
    for epoch in range(4):
        model.train()
        total = 0.0
        for step, batch in enumerate(loader, 1):
            loss = model(**batch).loss
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
            total += loss.item()
        em, length = exact_match(model, test.items)
        print(f"epoch {epoch}  loss {total / step:.4f}  exact match {em:.3f}  mean reply length {length:.2f}")


if __name__ == "__main__":
    main()
