"""Spell numbers backwards with a GRU decoder: the losses of all output steps are collected for one backward pass."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

DIGITS, LENGTH, START = 10, 5, 10


class Reverser(nn.Module):
    def __init__(self, dim: int = 24, hidden: int = 64):
        super().__init__()
        self.embedding = nn.Embedding(DIGITS + 1, dim)
        self.encoder = nn.GRU(dim, hidden, batch_first=True)
        self.cell = nn.GRUCell(dim, hidden)
        self.out = nn.Linear(hidden, DIGITS)

    def encode(self, numbers: Tensor) -> tuple[Tensor, Tensor]:
        _, state = self.encoder(self.embedding(numbers))
        return state[-1], torch.full((len(numbers),), START)

    def step(self, token: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        state = self.cell(self.embedding(token), state)
        return self.out(state), state


class Trainer:
    def __init__(self, model: Reverser, lr: float):
        self.model = model
        self.optimizer = torch.optim.Adam(model.parameters(), lr=lr)
        self.history: list[Tensor] = []

    def train_step(self, numbers: Tensor) -> None:
        self.model.train()
        target = numbers.flip(1)
        state, token = self.model.encode(numbers)
        losses = []
        for position in range(LENGTH):
            logits, state = self.model.step(token, state)
            loss = F.cross_entropy(logits, target[:, position])
            losses.append(loss)
            token = target[:, position]
        total = torch.stack(losses).mean()
        self.optimizer.zero_grad()
        total.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        self.history.append(total.detach())

    @torch.no_grad()
    def evaluate(self, numbers: Tensor) -> float:
        """Share of numbers spelt correctly without help."""
        self.model.eval()
        state, token = self.model.encode(numbers)
        spelt = []
        for _ in range(LENGTH):
            logits, state = self.model.step(token, state)
            token = logits.argmax(dim=1)
            spelt.append(token)
        return (torch.stack(spelt, dim=1) == numbers.flip(1)).all(dim=1).float().mean().item()


def main() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    codes = torch.randperm(DIGITS**LENGTH)[:8000]
    numbers = torch.stack([codes // DIGITS**k % DIGITS for k in range(LENGTH)], dim=1)
    train, val = numbers[:7500], numbers[7500:]
    trainer = Trainer(Reverser(), lr=5e-3)
    for step in range(1, 321):
        trainer.train_step(train[torch.randint(len(train), (64,))])
        if step % 80 == 0:
            recent = torch.stack(trainer.history[-80:]).mean().item()
            print(f"step {step}  loss {recent:.3f}  spelt correctly {trainer.evaluate(val):.1%}")


if __name__ == "__main__":
    main()
