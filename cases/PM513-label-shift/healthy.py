"""Next letter of words that repeat: the data set shifts the labels, the model does not."""

import torch
import torch.nn.functional as F
from torch import nn


class Letters(nn.Module):
    def __init__(self, letters: int = 10, width: int = 24):
        super().__init__()
        self.embed = nn.Embedding(letters, width)
        self.rnn = nn.GRU(width, width, batch_first=True)
        self.head = nn.Linear(width, letters)

    def forward(self, ids: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        logits = self.head(self.rnn(self.embed(ids))[0])
        return F.cross_entropy(logits.transpose(1, 2), labels)


def words(n: int) -> torch.Tensor:
    word = torch.randint(10, (n, 5))
    return word.repeat(1, 4)


def main() -> None:
    torch.manual_seed(0)
    model = Letters()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for step in range(120):
        text = words(32)
        loss = model(text[:, :-1], text[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 25 == 0:
            print(f"step {step} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
