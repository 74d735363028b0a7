"""A language model on verses of similar length, one verse at a time, four verses per update."""

import torch
import torch.nn.functional as F
from torch import nn


class Model(nn.Module):
    def __init__(self, words: int = 30, width: int = 24):
        super().__init__()
        self.embed = nn.Embedding(words, width)
        self.head = nn.Linear(width, words)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return self.head(self.embed(ids))


def verse(length: int, following: torch.Tensor) -> torch.Tensor:
    words = [int(torch.randint(30, (1,)))]
    for _ in range(length):
        words.append(int(following[words[-1], int(torch.randint(3, (1,)))]))
    return torch.tensor([words])


def main() -> None:
    torch.manual_seed(0)
    following = torch.randint(30, (30, 3))
    model = Model()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for step in range(40):
        total = 0.0
        for length in (28, 30, 26, 32):
            ids = verse(length, following)
            logits = model(ids[:, :-1])
            loss = F.cross_entropy(logits.transpose(1, 2), ids[:, 1:]) / 4
            loss.backward()
            total += loss.item()
        optimizer.step()
        optimizer.zero_grad()
        if step % 8 == 0:
            print(f"step {step} loss {total:.4f}")


if __name__ == "__main__":
    main()
