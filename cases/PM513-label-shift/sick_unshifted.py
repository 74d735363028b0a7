"""Next letter of words that repeat: and nobody shifts the labels."""

import torch
import torch.nn.functional as F
from torch import nn


class Letters(nn.Module):
    def __init__(self, letters: int = 10, width: int = 24):
        super().__init__()
        self.embed = nn.Embedding(letters, width)
        self.rnn = nn.GRU(width, width, batch_first=True)
        self.head = nn.Linear(width, letters)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return self.head(self.rnn(self.embed(ids))[0])


def words(n: int) -> torch.Tensor:
    word = torch.randint(10, (n, 5))
    return word.repeat(1, 4)


def main() -> None:
    torch.manual_seed(0)
    model = Letters()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for step in range(120):
        text = words(32)
        loss = F.cross_entropy(model(text).transpose(1, 2), text)  # <- PM513
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 25 == 0:
            print(f"step {step} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
