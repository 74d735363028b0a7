"""A transformer follows a pointer; the Noam schedule sets the rate of a step just before it is taken."""

import torch
import torch.nn.functional as F
from torch import nn

LENGTH, VALUES, WIDTH = 9, 8, 48


class NoamSchedule:
    """Linear warm-up, then inverse square root. Step t uses rate(t), so `step` precedes the update."""

    def __init__(self, optimizer: torch.optim.Optimizer, peak: float, warmup: int) -> None:
        self.optimizer, self.peak, self.warmup, self.t = optimizer, peak, warmup, 0

    def rate(self) -> float:
        return self.peak * min(self.t / self.warmup, (self.warmup / self.t) ** 0.5)

    def step(self) -> None:
        self.t += 1
        for group in self.optimizer.param_groups:
            group["lr"] = self.rate()


def pointer_batch(size: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Token 0 names a position; the answer is the token found there."""
    tokens = torch.randint(VALUES, (size, LENGTH))
    answer = tokens.gather(1, 1 + tokens[:, :1]).squeeze(1)
    return tokens, answer


class Follower(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.token = nn.Embedding(VALUES, WIDTH)
        self.position = nn.Parameter(torch.randn(LENGTH, WIDTH))
        layer = nn.TransformerEncoderLayer(WIDTH, 4, 2 * WIDTH, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(WIDTH, VALUES)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return self.head(self.encoder(self.token(tokens) + self.position)[:, 0])


@torch.no_grad()
def accuracy(model: Follower, tokens: torch.Tensor, answer: torch.Tensor) -> float:
    model.eval()
    return (model(tokens).argmax(1) == answer).float().mean().item()


def main() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = Follower()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.0, betas=(0.9, 0.98))
    schedule = NoamSchedule(optimizer, peak=4e-3, warmup=40)
    validation = pointer_batch(500)

    for step in range(1, 201):
        model.train()
        tokens, answer = pointer_batch(64)
        loss = F.cross_entropy(model(tokens), answer)
        optimizer.zero_grad()
        loss.backward()
        schedule.step()
        optimizer.step()
        if step % 25 == 0:
            print(
                f"step {step}: lr {schedule.rate():.5f}  loss {loss.item():.3f}  "
                f"val accuracy {accuracy(model, *validation):.3f}"
            )


if __name__ == "__main__":
    main()
