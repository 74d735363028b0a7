"""Cosine attention in half precision: the epsilon that protects the norm does not exist in float16."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
torch.set_num_threads(1)


class CosineRetrieval(nn.Module):
    def __init__(self, width: int = 16) -> None:
        super().__init__()
        self.query = nn.Linear(12, width)
        self.key = nn.Linear(12, width, bias=False)

    def forward(self, question: torch.Tensor, passages: torch.Tensor) -> torch.Tensor:
        q, k = self.query(question).half(), self.key(passages).half()
        norm = k.abs().amax(-1, keepdim=True)
        k = k / (norm + 1e-8)  # <- PM106
        return (k.float() @ q.float().unsqueeze(-1)).squeeze(-1)


model = CosineRetrieval()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for step in range(160):
    passages = torch.randn(32, 6, 12)
    if step % 40 == 39:
        passages[5, 4:] = 0.0  # fewer passages: the rest is empty
    answer = torch.randint(0, 4, (32,))
    question = passages[torch.arange(32), answer] + 0.2 * torch.randn(32, 12)
    loss = F.cross_entropy(model(question, passages), answer)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 40 == 0:
        print(f"step {step} loss {loss.item():.3f}")
