"""BiLSTM entity tagger on templated sentences of different lengths."""
import random

import torch
from sklearn.metrics import f1_score
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader

NAMES = [f"name{i}" for i in range(40)]
PLACES = [f"city{i}" for i in range(40)]
COMMON = [f"w{i}" for i in range(120)]
TITLES, PREPS = ["mr", "mrs", "dr"], ["in", "near", "from"]
PAD, UNK = 0, 1
TAG_PAD = -100
TAGS = ["O", "PER", "LOC"]
TAG2ID = {t: i for i, t in enumerate(TAGS)}


def make_sentence(rng):
    words, tags = [], []
    for _ in range(rng.randint(2, 7)):
        kind = rng.random()
        if kind < 0.2:
            words += [rng.choice(TITLES), rng.choice(NAMES + COMMON)]
            tags += ["O", "PER"]
        elif kind < 0.4:
            words += [rng.choice(PREPS), rng.choice(PLACES + COMMON)]
            tags += ["O", "LOC"]
        else:
            k = rng.randint(1, 4)
            words += rng.choices(COMMON, k=k)
            tags += ["O"] * k
    return words, tags


def build_vocab(sentences):
    vocab = {"<pad>": PAD, "<unk>": UNK}
    for words, _ in sentences:
        for w in words:
            vocab.setdefault(w, len(vocab))
    return vocab


def encode(sentences, vocab):
    return [(torch.tensor([vocab.get(w, UNK) for w in ws]), torch.tensor([TAG2ID[t] for t in ts]))
            for ws, ts in sentences]


def collate(batch):
    words, tags = zip(*batch)
    return (pad_sequence(words, batch_first=True, padding_value=PAD),
            pad_sequence(tags, batch_first=True, padding_value=TAG_PAD))


class Tagger(nn.Module):
    def __init__(self, n_words, n_tags, dim=32, hidden=32):
        super().__init__()
        self.embed = nn.Embedding(n_words, dim, padding_idx=PAD)
        self.lstm = nn.LSTM(dim, hidden, batch_first=True, bidirectional=True)
        self.drop = nn.Dropout(0.2)
        self.out = nn.Linear(2 * hidden, n_tags)

    def forward(self, words):
        h, _ = self.lstm(self.embed(words))
        return self.out(self.drop(h))


def tag_f1(model, loader):
    model.eval()
    gold, pred = [], []
    with torch.no_grad():
        for words, tags in loader:
            keep = words != PAD
            gold.append(tags[keep])
            pred.append(model(words).argmax(-1)[keep])
    return f1_score(torch.cat(gold), torch.cat(pred), average="macro")


def main():
    rng = random.Random(9)
    torch.manual_seed(9)
    train_s = [make_sentence(rng) for _ in range(800)]
    val_s = [make_sentence(rng) for _ in range(200)]
    vocab = build_vocab(train_s)
    train = DataLoader(encode(train_s, vocab), batch_size=16, shuffle=True, collate_fn=collate)
    val = DataLoader(encode(val_s, vocab), batch_size=50, collate_fn=collate)

    model = Tagger(len(vocab), len(TAGS))
    criterion = nn.CrossEntropyLoss(ignore_index=TAG_PAD)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(8):
        model.train()
        total = 0.0
        for words, tags in train:
            optimizer.zero_grad()
            logits = model(words)
            loss = criterion(logits.flatten(0, 1), tags.flatten())
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch}  train loss {total / len(train):.4f}  val macro F1 {tag_f1(model, val):.4f}")


if __name__ == "__main__":
    main()
