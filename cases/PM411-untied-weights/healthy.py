"""Tied weights with much moving about: converted, loaded with assign=True and tied again, copied for a moving average;
then untied on purpose by an equal copy, and a second model whose head is replaced for another task."""

import copy
import tempfile
from pathlib import Path

import torch
import torch.nn.functional as F
from _language import TOKENS, sentences
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class LanguageModel(nn.Module):
    def __init__(self, width: int = 48) -> None:
        super().__init__()
        self.embed = nn.Embedding(TOKENS, width)
        self.rnn = nn.GRU(width, width, batch_first=True)
        self.head = nn.Linear(width, TOKENS, bias=False)
        nn.init.normal_(self.embed.weight, std=0.1)
        self.tie()

    def tie(self) -> None:
        self.head.weight = self.embed.weight

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return self.head(self.rnn(self.embed(tokens))[0])


def train(model: nn.Module, epochs: int, average: nn.Module | None = None) -> None:
    loader = DataLoader(TensorDataset(sentences(640, 12, seed=1)), batch_size=64, shuffle=True)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(epochs):
        for (tokens,) in loader:
            logits = model(tokens[:, :-1])
            targets = tokens[:, 1:] % logits.shape[-1]
            loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if average is not None:
                with torch.no_grad():
                    for slow, fast in zip(average.parameters(), model.parameters(), strict=True):
                        slow.lerp_(fast, 0.05)
        print(f"epoch {epoch}: {loss.item():.3f}")


def main() -> None:
    torch.manual_seed(0)
    path = Path(tempfile.mkdtemp()) / "pretrained.pt"
    first = LanguageModel().double().float()
    train(first, epochs=2, average=copy.deepcopy(first).requires_grad_(False))
    torch.save(first.state_dict(), path)

    second = LanguageModel()
    second.load_state_dict({k: v.clone() for k, v in torch.load(path).items()}, assign=True)
    second.requires_grad_(True)
    second.tie()
    train(second, epochs=2)

    second.head.weight = nn.Parameter(second.embed.weight.detach().clone())
    train(second, epochs=2)

    second.head = nn.Linear(48, 5)
    train(second, epochs=2)


main()
