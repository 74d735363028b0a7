"""Sentiment of short reviews with a compiled attention model; every batch is as long as its longest review."""

import random

import torch
import torch.nn.functional as F
from torch import Tensor, nn

GOOD, BAD = range(1, 21), range(21, 41)
NEUTRAL, PAD, VOCAB = range(41, 100), 0, 100


def write_review(positive: bool) -> list[int]:
    length = random.randint(4, 40)
    words = random.choices(NEUTRAL, k=length)
    for place in random.sample(range(length), max(2, length // 5)):
        words[place] = random.choice(GOOD if positive == (random.random() < 0.9) else BAD)
    return words


def collate(reviews: list[tuple[list[int], int]]) -> tuple[Tensor, Tensor]:
    longest = max(len(words) for words, _ in reviews)
    tokens = torch.tensor([words + [PAD] * (longest - len(words)) for words, _ in reviews])
    return tokens, torch.tensor([label for _, label in reviews])


class Sentiment(nn.Module):
    def __init__(self, dim: int = 32):
        super().__init__()
        self.embedding = nn.Embedding(VOCAB, dim, padding_idx=PAD)
        self.score = nn.Linear(dim, 1)
        self.hidden = nn.Linear(dim, dim)
        self.out = nn.Linear(dim, 2)

    def forward(self, tokens: Tensor) -> Tensor:
        words = self.embedding(tokens)
        scores = self.score(words).squeeze(-1).masked_fill(tokens == PAD, float("-inf"))
        pooled = (scores.softmax(dim=1).unsqueeze(-1) * words).sum(dim=1)
        return self.out(F.relu(self.hidden(pooled)))


torch.set_num_threads(1)
torch.manual_seed(0)
random.seed(0)
reviews = [(write_review(bool(label)), label) for label in [0, 1] * 500]
random.shuffle(reviews)
train_reviews, val_reviews = reviews[:880], reviews[880:]

model = Sentiment()
forward = torch.compile(model, backend="eager", dynamic=False)  # <- PM705
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(1, 7):
    model.train()
    random.shuffle(train_reviews)
    total, batches = 0.0, range(0, len(train_reviews), 16)
    for start in batches:
        tokens, labels = collate(train_reviews[start : start + 16])
        loss = F.cross_entropy(forward(tokens), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    model.eval()
    with torch.no_grad():
        tokens, labels = collate(val_reviews)
        accuracy = (model(tokens).argmax(dim=1) == labels).float().mean().item()
    print(f"epoch {epoch}  train loss {total / len(batches):.3f}  val accuracy {accuracy:.3f}")
