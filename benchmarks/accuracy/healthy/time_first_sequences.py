"""Sequences with time in the first dimension, as torch's recurrent layers like them: a tagger, and a reverser of words as
long as the batch is large."""

import torch
import torch.nn.functional as F
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(6)
LETTERS = 12


class Tagger(nn.Module):
    """Says of each place whether its letter has been seen before; (time, batch) in, (time, batch, 2) out."""

    def __init__(self):
        super().__init__()
        self.letters = nn.Embedding(LETTERS, 16)
        self.lstm = nn.LSTM(16, 32, bidirectional=True)
        self.head = nn.Linear(64, 2)

    def forward(self, words):
        out, _ = self.lstm(self.letters(words))
        return self.head(out)


class Reverser(nn.Module):
    """Takes (batch, time, letters), works with time first, and leaves it so."""

    def __init__(self):
        super().__init__()
        self.reader, self.writer = nn.GRU(LETTERS, 48), nn.GRU(LETTERS, 48)
        self.head = nn.Linear(48, LETTERS)

    def forward(self, words, shifted):
        _, state = self.reader(words.transpose(0, 1))
        out, _ = self.writer(shifted.transpose(0, 1), state)
        return self.head(out)


def seen_before(words):
    same = words.unsqueeze(0) == words.unsqueeze(1)
    return (same & torch.ones(len(words), len(words)).tril(-1).bool().unsqueeze(2)).any(1).long()


tagger = Tagger()
optimizer = torch.optim.Adam(tagger.parameters(), lr=5e-3)
for step in range(120):
    words = torch.randint(0, LETTERS, (9, 20))
    loss = F.cross_entropy(tagger(words).flatten(0, 1), seen_before(words).flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 40 == 39:
        print(f"tagger step {step + 1} loss {loss.item():.3f}")
tagger.eval()
with torch.no_grad():
    words = torch.randint(0, LETTERS, (9, 100))
    print(f"tagger accuracy {(tagger(words).argmax(-1) == seen_before(words)).float().mean():.2f}")

reverser = Reverser()
optimizer = torch.optim.Adam(reverser.parameters(), lr=5e-3)
for step in range(120):
    words = torch.randint(1, LETTERS, (6, 6))  # six words of six letters
    backwards = words.flip(1)
    shifted = F.pad(backwards[:, :-1], (1, 0))
    scores = reverser(F.one_hot(words, LETTERS).float(), F.one_hot(shifted, LETTERS).float())
    loss = F.cross_entropy(scores.transpose(0, 1).flatten(0, 1), backwards.flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 40 == 39:
        print(f"reverser step {step + 1} loss {loss.item():.3f}")


class Relative(nn.Module):
    """Attends over time, the first dimension, to the one marked place, and tells how far each place is from it."""

    def __init__(self):
        super().__init__()
        self.scores = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 1))
        self.head = nn.Sequential(nn.Linear(4, 24), nn.ReLU(), nn.Linear(24, 1))

    def forward(self, track):
        weights = torch.softmax(self.scores(track), dim=0)
        marked = (weights * track).sum(0, keepdim=True)
        return self.head(torch.cat([track, marked.expand_as(track)], dim=2))


relative = Relative()
optimizer = torch.optim.Adam(relative.parameters(), lr=1e-2)
for step in range(150):
    heights, mark = torch.randn(10, 24), torch.randint(0, 10, (24,))
    track = torch.stack([heights, F.one_hot(mark, 10).T.float()], dim=2)
    wanted = heights - heights.gather(0, mark.unsqueeze(0))
    loss = F.mse_loss(relative(track), wanted.unsqueeze(2))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 50 == 49:
        print(f"relative step {step + 1} loss {loss.item():.3f}")
