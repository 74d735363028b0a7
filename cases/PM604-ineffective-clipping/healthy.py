"""Reverse digit strings with a GRU encoder-decoder; each half has its own gradient limit."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils import clip_grad_norm_

DIGITS, START, LENGTH = 10, 10, 5


class Encoder(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.embed = nn.Embedding(DIGITS, width)
        self.rnn = nn.GRU(width, width, batch_first=True)

    def forward(self, source: torch.Tensor) -> torch.Tensor:
        return self.rnn(self.embed(source))[1]


class Decoder(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.embed = nn.Embedding(DIGITS + 1, width)
        self.rnn = nn.GRU(width, width, batch_first=True)
        self.head = nn.Linear(width, DIGITS)

    def forward(self, previous: torch.Tensor, state: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        hidden, state = self.rnn(self.embed(previous), state)
        return self.head(hidden), state


class Reverser(nn.Module):
    def __init__(self, width: int = 48) -> None:
        super().__init__()
        self.encoder, self.decoder = Encoder(width), Decoder(width)

    def forward(self, source: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        """Logits under teacher forcing."""
        start = torch.full_like(target[:, :1], START)
        return self.decoder(torch.cat([start, target[:, :-1]], dim=1), self.encoder(source))[0]

    @torch.no_grad()
    def generate(self, source: torch.Tensor) -> torch.Tensor:
        state, token = self.encoder(source), torch.full_like(source[:, :1], START)
        answer = []
        for _ in range(source.shape[1]):
            logits, state = self.decoder(token, state)
            token = logits.argmax(-1)
            answer.append(token)
        return torch.cat(answer, dim=1)


def evaluate(model: Reverser, source: torch.Tensor) -> float:
    model.eval()
    return (model.generate(source) == source.flip(1)).float().mean().item()


def main() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = Reverser()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    validation = torch.randint(DIGITS, (300, LENGTH))

    for step in range(1, 351):
        model.train()
        source = torch.randint(DIGITS, (64, LENGTH))
        target = source.flip(1)
        loss = F.cross_entropy(model(source, target).flatten(0, 1), target.flatten())
        optimizer.zero_grad()
        loss.backward()
        clip_grad_norm_(model.encoder.parameters(), 0.5)
        clip_grad_norm_(model.decoder.parameters(), 1.0)
        applied = clip_grad_norm_(model.parameters(), float("inf"))
        optimizer.step()
        if step % 50 == 0:
            print(
                f"step {step}: loss {loss.item():.3f}  gradient norm {applied:.3f}  "
                f"digits right {evaluate(model, validation):.3f}"
            )


if __name__ == "__main__":
    main()
