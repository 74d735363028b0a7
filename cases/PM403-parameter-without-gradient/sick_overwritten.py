"""Turn digits round: the decoder should begin with what the encoder has read, and its name is used again instead."""

import torch
import torch.nn.functional as F
from torch import nn

DIGITS, START, LENGTH = 10, 10, 4


class Translator(nn.Module):
    def __init__(self, width: int = 32) -> None:
        super().__init__()
        self.source = nn.Embedding(DIGITS, 16)
        self.target = nn.Embedding(DIGITS + 1, 16)
        self.encoder = nn.GRU(16, width, batch_first=True)
        self.decoder = nn.GRU(16, width, batch_first=True)
        self.head = nn.Linear(width, DIGITS)

    def forward(self, source: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        _, state = self.encoder(self.source(source))
        start = torch.full((len(target), 1), START)
        given = self.target(torch.cat([start, target[:, :-1]], dim=1))
        hidden, state = self.decoder(given)  # <- PM403
        return self.head(hidden)


torch.set_num_threads(1)
torch.manual_seed(0)
model = Translator()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for step in range(1, 101):
    digits = torch.randint(0, DIGITS, (48, LENGTH))
    reverse = digits.flip(1)
    loss = F.cross_entropy(model(digits, reverse).flatten(0, 1), reverse.flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 25 == 0:
        print(f"step {step}: loss {loss.item():.3f}")
