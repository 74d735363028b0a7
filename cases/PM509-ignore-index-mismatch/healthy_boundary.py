"""A character model of made-up names in which a dot begins a name, ends it and fills up the row."""

import random

import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

LETTERS = ".abcdefghijklmnopqrstuvwxyz"
STARTS, MIDDLES, ENDS = ["kar", "bo", "eli", "jun", "tam"], ["a", "li", "ro", "mina"], ["n", "s", "ra", "th", "do"]
WIDTH = 13


def names(count: int) -> Tensor:
    rows = torch.zeros(count, WIDTH, dtype=torch.long)
    for row in rows:
        start = random.randrange(len(STARTS))
        name = STARTS[start] + MIDDLES[start % 4] * random.randint(0, 1) + random.choice(ENDS)
        row[1 : len(name) + 1] = torch.tensor([LETTERS.index(letter) for letter in name])
    return rows


class Speller(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(len(LETTERS), 16)
        self.gru = nn.GRU(16, 48, batch_first=True)
        self.out = nn.Linear(48, len(LETTERS))

    def forward(self, letters: Tensor) -> Tensor:
        return self.out(self.gru(self.embed(letters))[0])


def main() -> None:
    random.seed(0)
    torch.set_num_threads(1)
    torch.manual_seed(0)
    loader = DataLoader(TensorDataset(names(1000)), batch_size=40, shuffle=True)
    held_out = names(200)
    model = Speller()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(4):
        model.train()
        for (rows,) in loader:
            loss = nn.functional.cross_entropy(model(rows[:, :-1]).flatten(0, 1), rows[:, 1:].flatten())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            held = nn.functional.cross_entropy(model(held_out[:, :-1]).flatten(0, 1), held_out[:, 1:].flatten())
        print(f"epoch {epoch} loss {loss.item():.4f} held out {held.item():.4f}")


if __name__ == "__main__":
    main()
