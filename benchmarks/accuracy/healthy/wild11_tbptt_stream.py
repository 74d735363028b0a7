"""Word-level LM in the style of pytorch/examples word_language_model: contiguous streams, state carried over batches, tied output."""
import math
import random

import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(3)
rnd = random.Random(3)
SUBJ, VERB, OBJ = "cat dog bird fox".split(), "sees likes chases hears".split(), "mouse ball tree house".split()


def corpus(sentences):
    out = []
    for _ in range(sentences):
        s = rnd.randrange(4)
        v = (s + rnd.randrange(2)) % 4
        out += ["the", SUBJ[s], VERB[v], "the", OBJ[(s + v) % 4], "<eos>"]
    return out


train_words, valid_words = corpus(2600), corpus(400)
vocab = {w: i for i, w in enumerate(dict.fromkeys(train_words))}


def batchify(words, bsz):
    ids = torch.tensor([vocab[w] for w in words])
    n = len(ids) // bsz
    return ids[:n * bsz].view(bsz, n).t().contiguous()


class RNNModel(nn.Module):
    def __init__(self, ntoken, nhid=32, nlayers=2, dropout=0.1):
        super().__init__()
        self.drop = nn.Dropout(dropout)
        self.encoder = nn.Embedding(ntoken, nhid)
        self.rnn = nn.LSTM(nhid, nhid, nlayers, dropout=dropout)
        self.decoder = nn.Linear(nhid, ntoken)
        self.decoder.weight = self.encoder.weight
        nn.init.uniform_(self.encoder.weight, -0.1, 0.1)
        nn.init.zeros_(self.decoder.bias)
        self.nhid, self.nlayers = nhid, nlayers

    def init_hidden(self, bsz):
        w = next(self.parameters())
        return w.new_zeros(self.nlayers, bsz, self.nhid), w.new_zeros(self.nlayers, bsz, self.nhid)

    def forward(self, x, hidden):
        out, hidden = self.rnn(self.drop(self.encoder(x)), hidden)
        return self.decoder(self.drop(out)).flatten(0, 1), hidden


def repackage(h):
    return tuple(v.detach() for v in h)


BPTT, CLIP = 20, 0.25
train, valid = batchify(train_words, 20), batchify(valid_words, 10)
model, lr, best = RNNModel(len(vocab)), 5.0, None
criterion = nn.CrossEntropyLoss()


def evaluate(src):
    model.eval()
    h, total = model.init_hidden(src.size(1)), 0.0
    with torch.no_grad():
        for i in range(0, len(src) - 1, BPTT):
            n = min(BPTT, len(src) - 1 - i)
            out, h = model(src[i:i + n], h)
            total += n * criterion(out, src[i + 1:i + 1 + n].flatten()).item()
    return total / (len(src) - 1)


for epoch in range(1, 9):
    model.train()
    h, total, steps = model.init_hidden(20), 0.0, 0
    for i in range(0, len(train) - 1, BPTT):
        n = min(BPTT, len(train) - 1 - i)
        model.zero_grad()
        h = repackage(h)
        out, h = model(train[i:i + n], h)
        loss = criterion(out, train[i + 1:i + 1 + n].flatten())
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), CLIP)
        with torch.no_grad():
            for p in model.parameters():
                p.add_(p.grad, alpha=-lr)
        total += loss.item()
        steps += 1
    val = evaluate(valid)
    print(f"epoch {epoch} lr {lr} train loss {total / steps:.3f} valid loss {val:.3f} ppl {math.exp(val):.2f}")
    if best is None or val < best:
        best = val
    else:
        lr /= 4.0
