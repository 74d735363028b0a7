"""Which of two marks a review holds; all reviews are padded to one length, and the last place is read."""

import random

import torch
import torch.nn.functional as F
from torch import nn

WORDS, WIDTH = 20, 30


def make_batch(rng: random.Random, count: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    rows, lengths, labels = [], [], []
    for _ in range(count):
        length, label = rng.randint(3, 9) if rng.random() < 0.9 else rng.randint(20, 29), rng.randint(0, 1)
        words = [rng.randint(3, WORDS - 1) for _ in range(length)]
        words[rng.randrange(length)] = 1 + label
        rows.append(words + [0] * (WIDTH - length))
        lengths.append(length)
        labels.append(float(label))
    return torch.tensor(rows), torch.tensor(lengths), torch.tensor(labels)


class Reader(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(WORDS, 12)
        self.lstm = nn.LSTM(12, 24, batch_first=True)
        self.head = nn.Linear(24, 1)

    def forward(self, ids: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        states, _ = self.lstm(self.embed(ids))
        last = states[:, -1]  # <- PM315
        return self.head(last).squeeze(1)


torch.set_num_threads(1)
torch.manual_seed(0)
rng = random.Random(0)
model = Reader()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for step in range(1, 81):
    ids, lengths, labels = make_batch(rng, 32)
    loss = F.binary_cross_entropy_with_logits(model(ids, lengths), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 0:
        print(f"step {step}: loss {loss.item():.3f}")
