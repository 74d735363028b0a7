"""Seq2seq with GRU: rewrite '7 march 1998' as '1998-03-07'."""
import argparse
import random

import torch
import torch.nn as nn
from torch.nn.utils.rnn import pad_sequence

MONTHS = "january february march april may june july august september october november december".split()
CHARS = ["<pad>", "<bos>", "<eos>"] + sorted(set("".join(MONTHS) + "0123456789 -,"))
STOI = {c: i for i, c in enumerate(CHARS)}
PAD, BOS, EOS = 0, 1, 2


def make_pair(rng):
    y, m, d = rng.randint(1950, 2029), rng.randint(1, 12), rng.randint(1, 28)
    name = MONTHS[m - 1] if rng.random() < 0.5 else MONTHS[m - 1][:3]
    src = rng.choice([f"{d} {name} {y}", f"{name} {d}, {y}", f"{d:02d} {name} {y}"])
    return src, f"{y}-{m:02d}-{d:02d}"


def encode(s):
    return torch.tensor([STOI[c] for c in s] + [EOS])


def collate(pairs):
    src = pad_sequence([encode(s) for s, _ in pairs], batch_first=True, padding_value=PAD)
    tgt = pad_sequence([torch.cat([torch.tensor([BOS]), encode(t)]) for _, t in pairs],
                       batch_first=True, padding_value=PAD)
    return src, tgt


class Seq2Seq(nn.Module):
    def __init__(self, vocab, dim=64):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim, padding_idx=PAD)
        self.enc = nn.GRU(dim, dim, batch_first=True, bidirectional=True)
        self.bridge = nn.Linear(2 * dim, dim)
        self.dec = nn.GRU(dim, dim, batch_first=True)
        self.key = nn.Linear(2 * dim, dim)
        self.out = nn.Linear(3 * dim, vocab)

    def encode(self, src):
        mem, h = self.enc(self.emb(src))
        h0 = torch.tanh(self.bridge(torch.cat([h[0], h[1]], -1))).unsqueeze(0)
        return mem, h0, src.eq(PAD)

    def decode(self, tokens, state):
        mem, h, pad = state
        y, h = self.dec(self.emb(tokens), h)
        att = y @ self.key(mem).transpose(1, 2)
        att = att.masked_fill(pad.unsqueeze(1), -1e9).softmax(-1)
        return self.out(torch.cat([y, att @ mem], -1)), (mem, h, pad)

    @torch.no_grad()
    def greedy(self, src, max_len=12):
        state = self.encode(src)
        tok = torch.full((len(src), 1), BOS)
        result = []
        for _ in range(max_len):
            logits, state = self.decode(tok, state)
            tok = logits[:, -1:].argmax(-1)
            result.append(tok)
        return torch.cat(result, 1)


def exact_match(model, pairs):
    model.eval()
    src, _ = collate(pairs)
    rows = model.greedy(src).tolist()
    model.train()
    texts = ["".join(CHARS[t] for t in (r[:r.index(EOS)] if EOS in r else r)) for r in rows]
    return sum(a == b for a, (_, b) in zip(texts, pairs)) / len(pairs), texts[0]


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--steps", type=int, default=260)
    ap.add_argument("--batch", type=int, default=48)
    ap.add_argument("--lr", type=float, default=6e-3)
    a = ap.parse_args()
    torch.manual_seed(0)
    rng = random.Random(0)
    held = [make_pair(random.Random(10_000 + i)) for i in range(150)]
    model = Seq2Seq(len(CHARS))
    opt = torch.optim.Adam(model.parameters(), lr=a.lr)
    crit = nn.CrossEntropyLoss(ignore_index=PAD)
    for step in range(1, a.steps + 1):
        src, tgt = collate([make_pair(rng) for _ in range(a.batch)])
        state = model.encode(src)
        logits, _ = model.decode(tgt, state)
        loss = crit(logits.flatten(0, 1), tgt.flatten())
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        if step % 65 == 0:
            em, sample = exact_match(model, held)
            print(f"step {step} loss {loss.item():.4f} exact match {em:.3f}  e.g. {held[0][0]!r} -> {sample!r}")
