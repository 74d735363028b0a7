"""Sequence classification with packed sequences, recurrent dropout and buckets of similar length."""

import random

import torch
import torch.nn as nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_sequence
from torch.utils.data import DataLoader, Dataset, Sampler


class Brackets(Dataset):
    """Is the string of brackets balanced?"""

    def __init__(self, n, seed):
        rng = random.Random(seed)
        self.items = []
        while len(self.items) < n:
            length = 2 * rng.randint(2, 9)
            if len(self.items) % 2:
                text, depth = [], 0
                for left in range(length, 0, -1):
                    up = depth == 0 or (depth < left and rng.random() < 0.5)
                    text.append(1 if up else 2)
                    depth += 1 if up else -1
            else:
                text = [rng.choice((1, 2)) for _ in range(length)]
            depth, good = 0, True
            for t in text:
                depth += 1 if t == 1 else -1
                good &= depth >= 0
            self.items.append((torch.tensor(text), int(good and depth == 0)))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


class BucketSampler(Sampler):
    def __init__(self, dataset, size):
        self.dataset, self.size = dataset, size

    def __iter__(self):
        order = sorted(range(len(self.dataset)), key=lambda i: (len(self.dataset[i][0]), random.random()))
        batches = [order[i : i + self.size] for i in range(0, len(order), self.size)]
        random.shuffle(batches)
        return iter(batches)

    def __len__(self):
        return -(-len(self.dataset) // self.size)


def collate(batch):
    batch = sorted(batch, key=lambda item: -len(item[0]))
    lengths = torch.tensor([len(x) for x, _ in batch])
    return pad_sequence([x for x, _ in batch], batch_first=True), lengths, torch.tensor([y for _, y in batch])


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(3, 16, padding_idx=0)
        self.rnn = nn.LSTM(16, 32, num_layers=2, dropout=0.1, batch_first=True)
        self.out = nn.Linear(32, 2)

    def forward(self, x, lengths):
        packed = pack_padded_sequence(self.embed(x), lengths, batch_first=True)
        _, (h, _) = self.rnn(packed)
        return self.out(h[-1])


if __name__ == "__main__":
    torch.set_num_threads(1)
    torch.manual_seed(0)
    random.seed(0)
    train, test = Brackets(1200, 1), Brackets(300, 2)
    loader = DataLoader(train, batch_sampler=BucketSampler(train, 40), collate_fn=collate)
    model = Reader()
    optimizer = torch.optim.Adam(model.parameters(), lr=8e-3)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(8):
        model.train()
        total = 0.0
        for x, lengths, y in loader:
            optimizer.zero_grad()
            loss = criterion(model(x, lengths), y)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            total += loss.item()
        model.eval()
        with torch.no_grad():
            x, lengths, y = collate([test[i] for i in range(len(test))])
            accuracy = (model(x, lengths).argmax(1) == y).float().mean().item()
        print(epoch, total / len(loader), accuracy)
    assert accuracy > 0.9
