"""Sentiment of generated reviews with an LSTM, including negations."""

import random

import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader

GOOD = "great lovely superb charming clever moving brilliant fresh".split()
BAD = "dull awful weak clumsy boring cheap tired empty".split()
FILLER = "the film was story and acting scene music quite rather i thought a plot with".split()
WORDS = ["<pad>", "not", *GOOD, *BAD, *FILLER]
INDEX = {word: i for i, word in enumerate(WORDS)}


def make_review(rng: random.Random) -> tuple[torch.Tensor, int]:
    """Three opinions, some negated; the majority decides."""
    words, score = [], 0
    for _ in range(3):
        words += rng.choices(FILLER, k=rng.randint(1, 4))
        positive, negated = rng.random() < 0.5, rng.random() < 0.25
        words += ["not"] * negated + [rng.choice(GOOD if positive else BAD)]
        score += 1 if positive != negated else -1
    return torch.tensor([INDEX[w] for w in words]), int(score > 0)


def collate(batch: list[tuple[torch.Tensor, int]]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    texts, labels = zip(*batch)
    lengths = torch.tensor([len(text) for text in texts])
    return pad_sequence(texts, batch_first=True), lengths, torch.tensor(labels, dtype=torch.float32)


class Sentiment(nn.Module):
    def __init__(self, width: int = 24) -> None:
        super().__init__()
        self.embed = nn.Embedding(len(WORDS), width, padding_idx=0)
        self.lstm = nn.LSTM(width, width, batch_first=True)
        self.dropout = nn.Dropout(0.5)
        self.head = nn.Linear(width, 1)

    def forward(self, text: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        embedded = self.dropout(self.embed(text))
        packed = nn.utils.rnn.pack_padded_sequence(embedded, lengths, batch_first=True, enforce_sorted=False)
        _, (hidden, _) = self.lstm(packed)
        return self.head(self.dropout(hidden[-1])).squeeze(1)


def train_epoch(model: nn.Module, loader: DataLoader, optimizer: torch.optim.Optimizer) -> float:
    model.train()
    total = 0.0
    for text, lengths, label in loader:
        loss = nn.functional.binary_cross_entropy_with_logits(model(text, lengths), label)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(label)
    return total / len(loader.dataset)


def evaluate(model: nn.Module, loader: DataLoader) -> float:
    hits = []
    with torch.no_grad():
        for text, lengths, label in loader:
            hits.append((model(text, lengths) > 0) == (label > 0.5))  # <- PM612
    return torch.cat(hits).float().mean().item()


torch.set_num_threads(1)
torch.manual_seed(0)
rng = random.Random(0)
train_loader = DataLoader([make_review(rng) for _ in range(960)], batch_size=32, shuffle=True, collate_fn=collate)
val_loader = DataLoader([make_review(rng) for _ in range(300)], batch_size=100, collate_fn=collate)
model = Sentiment()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(1, 9):
    loss = train_epoch(model, train_loader, optimizer)
    print(f"epoch {epoch}: train loss {loss:.3f}  val accuracy {evaluate(model, val_loader):.3f}")
