"""A tagger that reads one sentence at a time: the LSTM gets (words, 1, features), and the first axis is time."""

import random

import torch
import torch.nn.functional as F
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(3)
random.seed(3)
WORDS = {"article": ["a", "the", "every"], "noun": ["fox", "hen", "farmer", "gate", "river"], "verb": ["sees", "fears"]}
TAGS = list(WORDS)
VOCABULARY = {word: i for i, word in enumerate(w for words in WORDS.values() for w in words)}
PATTERNS = [
    ("article", "noun", "verb", "article", "noun"),
    ("noun", "verb", "noun"),
    ("article", "noun", "verb", "noun"),
]


def sentence() -> tuple[torch.Tensor, torch.Tensor]:
    tags = random.choice(PATTERNS)
    words = [random.choice(WORDS[tag]) for tag in tags]
    return torch.tensor([VOCABULARY[w] for w in words]), torch.tensor([TAGS.index(tag) for tag in tags])


class Tagger(nn.Module):
    def __init__(self, width: int = 12) -> None:
        super().__init__()
        self.embedding = nn.Embedding(len(VOCABULARY), width)
        self.lstm = nn.LSTM(width, width)
        self.to_tags = nn.Linear(width, len(TAGS))

    def forward(self, words: torch.Tensor) -> torch.Tensor:
        states, _ = self.lstm(self.embedding(words).view(len(words), 1, -1))
        return F.log_softmax(self.to_tags(states.view(len(words), -1)), dim=1)


model = Tagger()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
corpus, held_out = [sentence() for _ in range(80)], [sentence() for _ in range(40)]
for epoch in range(6):
    total = 0.0
    for words, tags in corpus:
        model.zero_grad()
        loss = F.nll_loss(model(words), tags)
        loss.backward()
        optimizer.step()
        total += loss.item()
    with torch.no_grad():
        right = [(model(words).argmax(1) == tags).float().mean().item() for words, tags in held_out]
    print(f"epoch {epoch} loss {total / len(corpus):.3f} tags right {sum(right) / len(right):.3f}")
