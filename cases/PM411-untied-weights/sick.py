"""A tied language model goes on from a checkpoint that is loaded with assign=True: embedding and head part for good."""

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
        self.head.weight = self.embed.weight

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return self.head(self.rnn(self.embed(tokens))[0])


def train(model: LanguageModel, epochs: int, lr: float) -> None:
    loader = DataLoader(TensorDataset(sentences(640, 12, seed=1)), batch_size=64, shuffle=True)
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    for epoch in range(epochs):
        for (tokens,) in loader:
            logits = model(tokens[:, :-1])
            loss = F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch}: {loss.item():.3f}")


def main() -> None:
    torch.manual_seed(0)
    folder = Path(tempfile.mkdtemp())
    pretrained = LanguageModel()
    train(pretrained, epochs=3, lr=5e-3)
    torch.save(pretrained.state_dict(), folder / "pretrained.pt")

    model = LanguageModel()
    model.load_state_dict(
        {k: v.clone() for k, v in torch.load(folder / "pretrained.pt").items()}, assign=True
    )  # <- PM411
    for parameter in model.parameters():
        parameter.requires_grad_()
    train(model, epochs=4, lr=2e-3)


main()
