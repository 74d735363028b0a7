"""BiGRU part-of-speech-like tagger on a toy grammar with variable length sentences."""
import random

import torch
import torch.nn as nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader

PAD, N_WORDS, N_TAGS = 0, 200, 7


def sentence(rng):
    n = rng.randint(3, 9) if rng.random() < 0.9 else rng.randint(30, 40)
    words = [rng.randint(1, N_WORDS - 1) for _ in range(n)]
    tags = []
    for i, w in enumerate(words):
        prev = words[i - 1] if i else 0
        tag = (w % 6 + (prev % 3 == 0)) % 6 + 1
        if rng.random() < 0.25:
            tag = rng.randint(1, 6)
        tags.append(tag)
    return torch.tensor(words), torch.tensor(tags)


def collate(batch):
    words, tags = zip(*batch)
    return pad_sequence(words, batch_first=True, padding_value=PAD), \
        pad_sequence(tags, batch_first=True, padding_value=PAD)


class Tagger(nn.Module):
    def __init__(self, d=32):
        super().__init__()
        self.emb = nn.Embedding(N_WORDS, d, padding_idx=PAD)
        self.rnn = nn.GRU(d, d, batch_first=True, bidirectional=True)
        self.out = nn.Linear(2 * d, N_TAGS)

    def forward(self, x):
        h, _ = self.rnn(self.emb(x))
        return self.out(h)


class Trainer:
    def __init__(self, model, train, dev):
        self.model = model
        self.train_dl = DataLoader(train, batch_size=32, shuffle=True, collate_fn=collate)
        self.dev_dl = DataLoader(dev, batch_size=64, collate_fn=collate)
        self.opt = torch.optim.Adam(model.parameters(), lr=4e-3)
        self.crit = nn.CrossEntropyLoss(ignore_index=PAD)

    def train_epoch(self):
        self.model.train()
        total = 0.0
        for x, y in self.train_dl:
            self.opt.zero_grad()
            loss = self.crit(self.model(x).flatten(0, 1), y.flatten())
            loss.backward()
            self.opt.step()
            total += loss.item()
        return total / len(self.train_dl)

    @torch.no_grad()
    def evaluate(self):
        self.model.eval()
        correct = total = 0
        for x, y in self.dev_dl:
            pred = self.model(x).argmax(-1)
            pred[x == PAD] = PAD
            correct += (pred == y).sum().item()
            total += y.numel()
        return correct / total


if __name__ == "__main__":
    torch.manual_seed(0)
    rng = random.Random(0)
    train = [sentence(rng) for _ in range(800)]
    dev = [sentence(rng) for _ in range(200)]
    trainer = Trainer(Tagger(), train, dev)
    for epoch in range(6):
        loss = trainer.train_epoch()
        print(f"epoch {epoch} loss {loss:.3f} token accuracy {trainer.evaluate():.3f}")
