"""The head shares the embedding's data, not its Parameter: converting the model to float64 gives each its own."""

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
        self.head.weight.data = self.embed.weight.data

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return self.head(self.rnn(self.embed(tokens))[0])


def main() -> None:
    torch.manual_seed(0)
    model = LanguageModel()
    model.to(torch.float64)  # <- PM411
    loader = DataLoader(TensorDataset(sentences(640, 12, seed=1)), batch_size=64, shuffle=True)
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(5):
        for (tokens,) in loader:
            logits = model(tokens[:, :-1])
            loss = F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch}: {loss.item():.3f}")


main()
