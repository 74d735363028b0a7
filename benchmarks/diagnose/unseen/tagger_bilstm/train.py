"""Named-entity style tagger for short synthetic reports (BiLSTM)."""
import random

import numpy as np
import torch
import torch.nn as nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence
from torch.utils.data import DataLoader, Dataset

SEED = 13
TAGS = ["O", "PER", "LOC", "ORG", "DATE"]
PAD_TAG = -100


class ReportCorpus(Dataset):
    """Sentences from a small hidden-state grammar; several words are ambiguous."""

    def __init__(self, n, seed):
        rng = np.random.default_rng(seed)
        grammar = np.random.default_rng(0)
        trans = np.array([
            [0.62, 0.12, 0.09, 0.09, 0.08],
            [0.55, 0.38, 0.02, 0.04, 0.01],
            [0.65, 0.02, 0.25, 0.03, 0.05],
            [0.55, 0.03, 0.05, 0.36, 0.01],
            [0.60, 0.02, 0.02, 0.02, 0.34],
        ])
        own = [np.arange(1, 151), np.arange(151, 201), np.arange(201, 251),
               np.arange(251, 301), np.arange(301, 331)]
        shared = np.arange(331, 391)
        emit = []
        for words in own:
            p = np.zeros(391)
            p[words] = grammar.dirichlet(np.ones(len(words))) * 0.75
            p[shared] = grammar.dirichlet(np.full(len(shared), 0.3)) * 0.25
            emit.append(p)
        self.items = []
        for _ in range(n):
            length = int(rng.integers(6, 22))
            tag, words, tags = 0, [], []
            for _ in range(length):
                tag = int(rng.choice(5, p=trans[tag]))
                words.append(int(rng.choice(391, p=emit[tag])))
                tags.append(tag)
            self.items.append((torch.tensor(words), torch.tensor(tags)))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


def collate(batch):
    words = [w for w, _ in batch]
    tags = [t for _, t in batch]
    lengths = torch.tensor([len(w) for w in words])
    return (pad_sequence(words, batch_first=True, padding_value=0),
            pad_sequence(tags, batch_first=True, padding_value=PAD_TAG), lengths)


class Tagger(nn.Module):
    def __init__(self, vocab=391, dim=48, hidden=48):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim, padding_idx=0)
        self.drop = nn.Dropout(0.2)
        self.lstm = nn.LSTM(dim, hidden, batch_first=True, bidirectional=True)
        self.out = nn.Linear(2 * hidden, len(TAGS))

    def forward(self, words, lengths):
        x = self.drop(self.emb(words))
        packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        h, _ = pad_packed_sequence(self.lstm(packed)[0], batch_first=True,
                                   total_length=words.size(1))
        return self.out(self.drop(h))


class Trainer:
    def __init__(self, model, train, valid, lr=4e-3):
        self.model, self.train_loader, self.valid_loader = model, train, valid
        self.criterion = nn.CrossEntropyLoss(ignore_index=PAD_TAG)
        self.optimizer = torch.optim.Adam(model.parameters(), lr=lr)

    def run_epoch(self):
        self.model.train()
        total, count = 0.0, 0
        for words, tags, lengths in self.train_loader:
            logits = self.model(words, lengths)
            loss = self.criterion(logits.flatten(0, 1), tags.flatten())
            self.optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(self.model.parameters(), 5.0)
            self.optimizer.step()
            n = int(lengths.sum())
            total, count = total + loss.item() * n, count + n
        return total / count

    @torch.no_grad()
    def evaluate(self):
        self.model.eval()
        total, right, count = 0.0, 0, 0
        for words, tags, lengths in self.valid_loader:
            logits = self.model(words, lengths)
            keep = tags != PAD_TAG
            total += nn.functional.cross_entropy(logits[keep], tags[keep], reduction="sum").item()
            right += (logits.argmax(-1)[keep] == tags[keep]).sum().item()
            count += keep.sum().item()
        return total / count, right / count

    def fit(self, epochs):
        for epoch in range(epochs):
            train_loss = self.run_epoch()
            valid_loss, acc = self.evaluate()
            print(f"epoch {epoch}: train {train_loss:.4f} valid {valid_loss:.4f} token acc {acc:.4f}")


if __name__ == "__main__":
    random.seed(SEED)
    np.random.seed(SEED)
    torch.manual_seed(SEED)
    train_set, valid_set = ReportCorpus(1200, 1), ReportCorpus(300, 2)
    trainer = Trainer(
        Tagger(),
        DataLoader(train_set, batch_size=32, shuffle=True, collate_fn=collate),
        DataLoader(valid_set, batch_size=64, collate_fn=collate),
    )
    trainer.fit(6)
