"""Tag every character with its bracket depth; batches of similar length, so that long ones take longer."""

import random

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

OPEN, CLOSE, DEPTHS, IGNORE = 1, 2, 5, -100
VOCAB = 8  # padding, two brackets, letters


def write(length: int) -> tuple[Tensor, Tensor]:
    """A text with balanced prefixes, and the depth after every character."""
    text, depths, depth = [], [], 0
    for _ in range(length):
        draw = random.random()
        if draw < 0.25 and depth < DEPTHS - 1:
            character, depth = OPEN, depth + 1
        elif draw < 0.5 and depth > 0:
            character, depth = CLOSE, depth - 1
        else:
            character = random.randrange(3, VOCAB)
        text.append(character)
        depths.append(depth)
    return torch.tensor(text), torch.tensor(depths)


def collate(texts: list[tuple[Tensor, Tensor]]) -> tuple[Tensor, Tensor]:
    characters, depths = zip(*texts)
    return pad_sequence(characters, batch_first=True), pad_sequence(depths, batch_first=True, padding_value=IGNORE)


def make_buckets(texts: list[tuple[Tensor, Tensor]], size: int) -> list[tuple[Tensor, Tensor]]:
    ordered = sorted(texts, key=lambda text: len(text[0]))
    return [collate(ordered[start : start + size]) for start in range(0, len(ordered), size)]


class Tagger(nn.Module):
    def __init__(self, dim: int = 16, hidden: int = 48):
        super().__init__()
        self.embedding = nn.Embedding(VOCAB, dim, padding_idx=0)
        self.gru = nn.GRU(dim, hidden, batch_first=True)
        self.out = nn.Linear(hidden, DEPTHS)

    def forward(self, characters: Tensor) -> Tensor:
        features, _ = self.gru(self.embedding(characters))
        return self.out(features)


@torch.no_grad()
def evaluate(model: nn.Module, buckets: list[tuple[Tensor, Tensor]]) -> float:
    model.eval()
    hits = total = 0
    for characters, depths in buckets:
        real = depths != IGNORE
        hits += (model(characters).argmax(dim=-1) == depths)[real].sum().item()
        total += real.sum().item()
    return hits / total


torch.set_num_threads(1)
torch.manual_seed(0)
random.seed(0)
train = make_buckets([write(random.randint(5, 70)) for _ in range(1600)], size=32)
val = make_buckets([write(random.randint(5, 70)) for _ in range(480)], size=32)
model = Tagger()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
step, running = 0, 0.0
for _ in range(4):
    for characters, depths in random.sample(train, len(train)):
        model.train()
        loss = F.cross_entropy(model(characters).flatten(0, 1), depths.flatten(), ignore_index=IGNORE)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        step, running = step + 1, running + loss.item()
        if step % 25 == 0:
            print(f"step {step:3d}  train loss {running / 25:.3f}  val accuracy {evaluate(model, val):.3f}")
            running = 0.0
