"""Read handwriting column by column with CTC."""

import torch
import torch.nn.functional as F
from torch import nn


class Reader(nn.Module):
    def __init__(self, letters: int = 6):
        super().__init__()
        self.columns = nn.Conv1d(letters, 24, 3, stride=STRIDE, padding=1)
        self.head = nn.Linear(24, letters + 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(F.relu(self.columns(x)).permute(2, 0, 1)).log_softmax(2)


STRIDE = 4


def lines(n: int) -> tuple[torch.Tensor, torch.Tensor]:
    text = torch.randint(1, 7, (n, 8))
    x = F.one_hot(text - 1, 6).float().repeat_interleave(3, 1).transpose(1, 2)
    return x + 0.2 * torch.randn_like(x), text


def main() -> None:
    torch.manual_seed(0)
    model = Reader()
    criterion = nn.CTCLoss(zero_infinity=True)
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for step in range(100):
        x, text = lines(24)
        scores = model(x)
        room = torch.full((24,), len(scores))
        loss = criterion(scores, text, room, torch.full((24,), 8))  # <- PM515
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 25 == 0:
            print(f"step {step} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
