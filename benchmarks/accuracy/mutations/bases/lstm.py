"""A recurrent classifier of variable-length sequences: does the first or the second marker come first?"""

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_sequence
from torch.utils.data import DataLoader, Dataset

VOCAB, PAD = 20, 0
torch.manual_seed(0)


class Markers(Dataset):
    """Sequences of symbols 3 to 19 with the markers 1 and 2 somewhere; label 1 when marker 1 comes first."""

    def __init__(self, count, seed):
        generator = torch.Generator().manual_seed(seed)
        self.items = []
        for _ in range(count):
            length = int(torch.randint(8, 16, (1,), generator=generator))
            tokens = torch.randint(3, VOCAB, (length,), generator=generator)
            first, second = torch.randperm(length, generator=generator)[:2].tolist()
            tokens[first], tokens[second] = 1, 2
            self.items.append((tokens, int(first < second)))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, index):
        return self.items[index]


def collate(items):
    tokens, labels = zip(*items)
    lengths = torch.tensor([len(t) for t in tokens])
    return pad_sequence(tokens, batch_first=True, padding_value=PAD), lengths, torch.tensor(labels)


class Classifier(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.embedding = nn.Embedding(VOCAB, width, padding_idx=PAD)
        self.lstm = nn.LSTM(width, width, batch_first=True)
        self.head = nn.Linear(width, 2)

    def forward(self, tokens, lengths):
        embedded = self.embedding(tokens)
        packed = pack_padded_sequence(embedded, lengths, batch_first=True, enforce_sorted=False)
        _, (hidden, _) = self.lstm(packed)
        return self.head(hidden[-1])


def run_epoch(model, loader, criterion, optimizer=None):
    model.train(optimizer is not None)
    total, correct = 0.0, 0
    with torch.set_grad_enabled(optimizer is not None):
        for tokens, lengths, labels in loader:
            logits = model(tokens, lengths)
            loss = criterion(logits, labels)
            if optimizer is not None:
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
            total += loss.item() * len(labels)
            correct += (logits.argmax(-1) == labels).sum().item()
    return total / len(loader.dataset), correct / len(loader.dataset)


train_loader = DataLoader(Markers(1200, seed=1), batch_size=32, shuffle=True, collate_fn=collate)
valid_loader = DataLoader(Markers(300, seed=2), batch_size=100, collate_fn=collate)
model = Classifier()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(6):
    train_loss, train_accuracy = run_epoch(model, train_loader, criterion, optimizer)
    valid_loss, valid_accuracy = run_epoch(model, valid_loader, criterion)
    print(f"{epoch}: train {train_loss:.3f} / {train_accuracy:.2f}, valid {valid_loss:.3f} / {valid_accuracy:.2f}")
