"""A small text model in pure float16: Adam's epsilon is 0 there, and rows without gradient become 0/0."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
torch.set_num_threads(1)
VOCAB = 50


class Tagger(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(VOCAB, 16)
        self.out = nn.Linear(16, 5)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return self.out(self.embed(tokens))


model = Tagger().half()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)  # <- PM104
for step in range(60):
    tokens = torch.randint(0, VOCAB, (4, 6))
    logits = model(tokens).float()
    loss = F.cross_entropy(logits.reshape(-1, 5), (tokens % 5).reshape(-1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 0:
        print(f"step {step} loss {loss.item():.4f}")
