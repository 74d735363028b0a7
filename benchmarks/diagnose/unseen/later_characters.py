"""A small character model of a made-up language."""
import random

import torch
from torch import nn

random.seed(0)
torch.manual_seed(0)
SYLLABLES = [c + v for c in "bdfgklmnprst" for v in "aeiou"]
WORDS = ["".join(random.choices(SYLLABLES, k=random.randint(2, 4))) for _ in range(60)]
TEXT = " ".join(random.choices(WORDS, k=6000))
CHARS = sorted(set(TEXT))
DATA = torch.tensor([CHARS.index(c) for c in TEXT])


def batch(n=24, length=32):
    at = torch.randint(0, len(DATA) - length - 1, (n,))
    rows = torch.stack([DATA[a : a + length + 1] for a in at])
    return rows[:, :-1], rows[:, 1:]


class CharModel(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.embed = nn.Embedding(len(CHARS), width)
        self.rnn = nn.GRU(width, width, batch_first=True)
        self.out = nn.Linear(width, len(CHARS))

    def forward(self, x):
        return self.out(self.rnn(self.embed(x))[0])


model = CharModel()
opt = torch.optim.AdamW(model.parameters(), lr=2e-3)
for step in range(250):
    x, y = batch()
    loss = nn.functional.cross_entropy(model(x).transpose(1, 2), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 50 == 0:
        print(step, loss.item())
