"""Sentiment of synthetic reviews with a packed LSTM."""
import random

import torch
import torch.nn as nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_sequence

torch.set_num_threads(1)
random.seed(31)
torch.manual_seed(31)

GOOD = "great lovely superb delightful brilliant fun warm".split()
BAD = "awful boring dull terrible weak cold messy".split()
NEUTRAL = "the film a plot actor scene was and with of in it story music camera ending first second".split()
NEGATE = "not"


def review():
    label = random.random() < 0.5
    words = [random.choice(NEUTRAL) for _ in range(random.randint(3, 22))]
    for _ in range(random.randint(1, 3)):
        flip = random.random() < 0.25
        pool = GOOD if label != flip else BAD
        piece = ([NEGATE] if flip else []) + [random.choice(pool)]
        at = random.randint(0, len(words))
        words[at:at] = piece
    return words, float(label)


class Vocab:
    def __init__(self, texts):
        self.itos = ["<pad>", "<unk>"] + sorted({w for t in texts for w in t})
        self.stoi = {w: i for i, w in enumerate(self.itos)}

    def encode(self, words):
        return torch.tensor([self.stoi.get(w, 1) for w in words])


class SentimentLSTM(nn.Module):
    def __init__(self, n_vocab, emb=24, hid=32):
        super().__init__()
        self.embed = nn.Embedding(n_vocab, emb, padding_idx=0)
        self.lstm = nn.LSTM(emb, hid, batch_first=True)
        self.out = nn.Linear(hid, 1)

    def forward(self, ids, lengths):
        lengths, order = lengths.sort(descending=True)
        packed = pack_padded_sequence(self.embed(ids[order]), lengths, batch_first=True)
        _, (h, _) = self.lstm(packed)
        return self.out(h[-1]).squeeze(1)


def batches(rows, vocab, size, shuffle):
    rows = list(rows)
    if shuffle:
        random.shuffle(rows)
    for i in range(0, len(rows), size):
        part = rows[i:i + size]
        ids = [vocab.encode(w) for w, _ in part]
        yield pad_sequence(ids, batch_first=True), torch.tensor([len(s) for s in ids]), torch.tensor([y for _, y in part])


def main():
    data = [review() for _ in range(2600)]
    train, test = data[:2000], data[2000:]
    vocab = Vocab(w for w, _ in train)
    model = SentimentLSTM(len(vocab.itos))
    optim = torch.optim.Adam(model.parameters(), lr=4e-3)
    bce = nn.BCEWithLogitsLoss()
    for epoch in range(1, 8):
        model.train()
        total = 0.0
        for ids, lengths, y in batches(train, vocab, 40, True):
            optim.zero_grad()
            loss = bce(model(ids, lengths), y)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optim.step()
            total += loss.item()
        model.eval()
        correct = 0
        with torch.no_grad():
            for ids, lengths, y in batches(test, vocab, 100, False):
                correct += ((model(ids, lengths) > 0) == y.bool()).sum().item()
        print(f"Epoch {epoch:02d} | train loss {total / 50:.4f} | test acc {correct / len(test):.3f}")


main()
