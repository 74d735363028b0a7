"""Count upwards, then stop: a language model on sequences of digits, padded with the id of the end."""

import torch
import torch.nn.functional as F
from torch import nn

END, PAD, IGNORED = 0, 0, -100


class Counter(nn.Module):
    def __init__(self, vocabulary: int = 16):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, 24)
        self.rnn = nn.GRU(24, 24, batch_first=True)
        self.head = nn.Linear(24, vocabulary)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return self.head(self.rnn(self.embed(ids))[0])


def sequences(n: int) -> tuple[torch.Tensor, torch.Tensor]:
    rows = []
    for _ in range(n):
        start, length = int(torch.randint(1, 6, (1,))), int(torch.randint(4, 9, (1,)))
        rows.append([*range(start, start + length), END])
    width = max(map(len, rows))
    ids = torch.tensor([row + [PAD] * (width - len(row)) for row in rows])
    labels = ids.clone()
    labels[labels == PAD] = IGNORED  # <- PM323
    return ids, labels


def main() -> None:
    torch.manual_seed(0)
    model = Counter()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for step in range(80):
        ids, labels = sequences(24)
        logits = model(ids)
        loss = F.cross_entropy(logits[:, :-1].transpose(1, 2), labels[:, 1:], ignore_index=IGNORED)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 20 == 0:
            print(f"step {step} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
