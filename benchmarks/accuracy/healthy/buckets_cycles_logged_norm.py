"""Names in batches of equal length, a cosine that goes up and down with the epochs, and a norm that is only logged."""

import random

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Sampler

torch.set_num_threads(1)
torch.manual_seed(4)
random.seed(4)
CONSONANTS, VOWELS = "bdgklmnprst", "aeiou"
LETTERS = {letter: i + 1 for i, letter in enumerate(sorted(CONSONANTS + VOWELS))}


def name() -> list[int]:
    letters = [random.choice((CONSONANTS, VOWELS)[i % 2]) for i in range(random.choice((4, 6, 8, 10)))]
    return [0, *(LETTERS[letter] for letter in letters), 0]


class ByLength(Sampler):
    def __init__(self, names: list[list[int]], size: int) -> None:
        self.size = size
        self.groups: dict[int, list[int]] = {}
        for place, letters in enumerate(names):
            self.groups.setdefault(len(letters), []).append(place)

    def __iter__(self):
        pieces = []
        for group in self.groups.values():
            random.shuffle(group)
            pieces += [group[i : i + self.size] for i in range(0, len(group), self.size)]
        random.shuffle(pieces)
        return iter(pieces)

    def __len__(self) -> int:
        return sum(-(-len(group) // self.size) for group in self.groups.values())


def together(names: list[list[int]]) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.tensor(names), torch.tensor([len(letters) for letters in names])


class Speller(nn.Module):
    def __init__(self, width: int = 32) -> None:
        super().__init__()
        self.embedding = nn.Embedding(len(LETTERS) + 1, width)
        self.reader = nn.LSTM(width, width, batch_first=True)
        self.to_letters = nn.Linear(width, len(LETTERS) + 1)

    def forward(self, letters: torch.Tensor) -> torch.Tensor:
        return self.to_letters(self.reader(self.embedding(letters))[0])


names, others = [name() for _ in range(480)], [name() for _ in range(120)]
train_loader = DataLoader(names, batch_sampler=ByLength(names, 20), collate_fn=together)
val_loader = DataLoader(others, batch_sampler=ByLength(others, 20), collate_fn=together)
model = Speller()
optimizer = torch.optim.SGD(model.parameters(), lr=0.5, momentum=0.9)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=len(train_loader))
for epoch in range(8):
    model.train()
    norms = []
    for letters, _ in train_loader:
        loss = F.cross_entropy(model(letters[:, :-1]).transpose(1, 2), letters[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        norms.append(nn.utils.clip_grad_norm_(model.parameters(), float("inf")).item())
    model.eval()
    with torch.no_grad():
        losses = [F.cross_entropy(model(x[:, :-1]).transpose(1, 2), x[:, 1:]).item() for x, _ in val_loader]
    print(f"epoch {epoch} norm {sum(norms) / len(norms):.3f} held out {sum(losses) / len(losses):.3f}")
