"""Medusa: several residual heads predict the next tokens of a Markov language in parallel."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader

SYMBOLS, LENGTH, WIDTH, HEADS = 16, 20, 32, 3


class ResBlock(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.linear = nn.Linear(width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + F.silu(self.linear(x))


class Medusa(nn.Module):
    """Head k reads the state at t and predicts the token at t + k + 1."""

    def __init__(self, layers: int = 2) -> None:
        super().__init__()
        self.tokens = nn.Embedding(SYMBOLS, WIDTH)
        self.trunk = nn.GRU(WIDTH, WIDTH, batch_first=True)
        self.heads = nn.ModuleList(
            nn.Sequential(
                *[ResBlock(WIDTH)] * layers,  # <- PM406
                nn.Linear(WIDTH, SYMBOLS),
            )
            for _ in range(HEADS)
        )

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        states, _ = self.trunk(self.tokens(tokens))
        return torch.stack([head(states) for head in self.heads], dim=2)


def sample_language(count: int, transitions: torch.Tensor) -> torch.Tensor:
    sequence = [torch.randint(SYMBOLS, (count,))]
    while len(sequence) < LENGTH + HEADS:
        sequence.append(torch.multinomial(transitions[sequence[-1]], 1).squeeze(1))
    return torch.stack(sequence, dim=1)


def head_losses(model: Medusa, batch: torch.Tensor) -> torch.Tensor:
    logits = model(batch[:, :LENGTH])
    targets = batch.unfold(1, HEADS, 1)[:, 1 : LENGTH + 1]
    losses = F.cross_entropy(logits.flatten(0, 2), targets.flatten(), reduction="none")
    return losses.view(-1, HEADS).mean(dim=0)


def main() -> None:
    torch.manual_seed(0)
    torch.set_num_threads(1)
    transitions = torch.softmax(3 * torch.randn(SYMBOLS, SYMBOLS), dim=1)
    train, valid = sample_language(2400, transitions), sample_language(300, transitions)
    loader = DataLoader(train, batch_size=60, shuffle=True)

    model = Medusa()
    optimizer = torch.optim.AdamW(model.parameters(), lr=4e-3)
    for epoch in range(4):
        model.train()
        total = torch.zeros(HEADS)
        for batch in loader:
            losses = head_losses(model, batch)
            optimizer.zero_grad()
            losses.mean().backward()
            optimizer.step()
            total += losses.detach() * len(batch)

        model.eval()
        with torch.no_grad():
            valid_losses = head_losses(model, valid)
        shown = "  ".join(f"{a:.3f}/{b:.3f}" for a, b in zip(total / len(train), valid_losses))
        print(f"epoch {epoch}: train/valid loss by head  {shown}")


if __name__ == "__main__":
    main()
