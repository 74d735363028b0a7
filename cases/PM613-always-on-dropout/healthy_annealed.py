"""Word order as a task for a small attention block with dropout on the scores."""

import torch
import torch.nn.functional as F
from torch import nn


class Attention(nn.Module):
    def __init__(self, width: int, score_dropout: float = 0.2):
        super().__init__()
        self.qkv = nn.Linear(width, 3 * width)
        self.score_dropout = score_dropout

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.training:
            self.score_dropout = max(0.0, self.score_dropout - 0.001)  # annealed while it is trained
        q, k, v = self.qkv(x).chunk(3, -1)
        return F.scaled_dot_product_attention(q, k, v, dropout_p=self.score_dropout if self.training else 0.0)


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(8, 16)
        self.place = nn.Parameter(0.1 * torch.randn(6, 16))
        self.attention = Attention(16)
        self.head = nn.Linear(16, 2)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        x = self.embed(ids) + self.place
        return self.head((x + self.attention(x)).mean(1))


def main() -> None:
    torch.manual_seed(0)
    model = Reader()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-2)
    for step in range(300):
        model.train()
        ids = torch.randint(8, (64, 6))
        loss = F.cross_entropy(model(ids), (ids[:, 0] > ids[:, 5]).long())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 50 == 0:
            model.eval()
            with torch.no_grad():
                ids = torch.randint(8, (256, 6))
                right = (model(ids).argmax(1) == (ids[:, 0] > ids[:, 5])).float().mean()
            print(f"step {step} loss {loss.item():.4f} accuracy {right:.3f}")


if __name__ == "__main__":
    main()
