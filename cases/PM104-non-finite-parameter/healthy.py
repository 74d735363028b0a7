"""The same text model with float32 weights; a buffer holds -inf on purpose, as the best score so far does."""

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
        self.register_buffer("best_score", torch.tensor(float("-inf")))
        self.register_buffer("never_read", torch.full((3,), float("nan")))

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        logits = self.out(self.embed(tokens))
        with torch.no_grad():
            self.best_score.copy_(torch.maximum(self.best_score, logits.max()))
        return logits


model = Tagger()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-2, eps=1e-12)
for step in range(120):
    tokens = torch.randint(0, VOCAB - 4, (16, 6))  # the last rows never get a gradient
    with torch.autocast("cpu", dtype=torch.bfloat16):
        logits = model(tokens)
    loss = F.cross_entropy(logits.float().reshape(-1, 5), (tokens % 5).reshape(-1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 30 == 0:
        print(f"step {step} loss {loss.item():.4f} best {model.best_score.item():.2f}")
