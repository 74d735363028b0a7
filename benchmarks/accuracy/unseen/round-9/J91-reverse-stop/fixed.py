"""A small decoder that learns to spell words backwards:  `<bos> c a t > t a c <eos>`."""
import random

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader


class CharTokenizer:
    def __init__(self, alphabet="abcdefghij"):
        self.itos = ["<pad>", "<bos>", "<eos>", ">"] + list(alphabet)
        self.stoi = {c: i for i, c in enumerate(self.itos)}
        self.bos_id, self.eos_id, self.sep_id = 1, 2, 3
        self.pad_id = self.stoi["<pad>"]

    def __len__(self):
        return len(self.itos)

    def encode(self, word):
        body = [self.stoi[c] for c in word]
        return [self.bos_id] + body + [self.sep_id] + body[::-1] + [self.eos_id]

    def decode(self, ids):
        return "".join(self.itos[i] for i in ids)


class Collator:
    def __init__(self, tok):
        self.tok = tok

    def __call__(self, words):
        seqs = [torch.tensor(self.tok.encode(w)) for w in words]
        ids = pad_sequence(seqs, batch_first=True, padding_value=self.tok.pad_id)
        labels = ids.clone()
        labels[labels == self.tok.pad_id] = -100
        return ids, labels


class TinyDecoder(nn.Module):
    def __init__(self, vocab, dim=48, heads=4, layers=2, max_len=24):
        super().__init__()
        self.tok = nn.Embedding(vocab, dim)
        self.pos = nn.Embedding(max_len, dim)
        block = nn.TransformerEncoderLayer(dim, heads, 4 * dim, dropout=0.0, batch_first=True, norm_first=True)
        self.blocks = nn.TransformerEncoder(block, layers, enable_nested_tensor=False)
        self.norm = nn.LayerNorm(dim)
        self.out = nn.Linear(dim, vocab)

    def forward(self, ids):
        n = ids.shape[1]
        h = self.tok(ids) + self.pos(torch.arange(n))
        causal = torch.triu(torch.ones(n, n, dtype=torch.bool), diagonal=1)
        return self.out(self.norm(self.blocks(h, mask=causal)))


def lm_loss(logits, labels):
    return F.cross_entropy(logits[:, :-1].flatten(0, 1), labels[:, 1:].flatten(), ignore_index=-100)


@torch.no_grad()
def generate(model, tok, words, max_new=10):
    """Greedy decoding for words of one length; stops at <eos>."""
    model.eval()
    prompt = torch.tensor([tok.encode(w)[:len(w) + 2] for w in words])
    ids, done = prompt, torch.zeros(len(words), dtype=torch.bool)
    for _ in range(max_new):
        nxt = model(ids)[:, -1].argmax(-1)
        nxt = torch.where(done, torch.full_like(nxt, tok.eos_id), nxt)
        ids = torch.cat([ids, nxt[:, None]], dim=1)
        done |= nxt == tok.eos_id
        if done.all():
            break
    texts = []
    for row in ids[:, prompt.shape[1]:].tolist():
        texts.append(tok.decode(row[:row.index(tok.eos_id)] if tok.eos_id in row else row))
    return texts


def main():
    random.seed(0)
    torch.manual_seed(0)
    tok = CharTokenizer()
    words = list({"".join(random.choices("abcdefghij", k=random.randint(3, 6))) for _ in range(5000)})
    words.sort()
    random.shuffle(words)
    valid, train = words[:300], words[300:]
    loader = DataLoader(train, batch_size=128, shuffle=True, collate_fn=Collator(tok))
    vloader = DataLoader(valid, batch_size=300, collate_fn=Collator(tok))
    model = TinyDecoder(len(tok))
    epochs = 8
    opt = torch.optim.AdamW(model.parameters(), lr=3e-3)
    sched = torch.optim.lr_scheduler.OneCycleLR(opt, 3e-3, total_steps=epochs * len(loader))
    for epoch in range(epochs):
        model.train()
        tot = 0.0
        for ids, labels in loader:
            opt.zero_grad()
            loss = lm_loss(model(ids), labels)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            opt.step()
            sched.step()
            tot += loss.item()
        model.eval()
        with torch.no_grad():
            vl = sum(lm_loss(model(i), l).item() for i, l in vloader) / len(vloader)
        print(f"epoch {epoch} train {tot / len(loader):.3f} valid {vl:.3f}")
    hits = 0
    for size in (3, 4, 5, 6):
        group = [w for w in valid if len(w) == size]
        texts = generate(model, tok, group)
        hits += sum(t == w[::-1] for t, w in zip(texts, group))
    print("sample:", group[0], "->", texts[0])
    print(f"exact match on held-out words: {hits / len(valid):.3f}")


if __name__ == "__main__":
    main()
