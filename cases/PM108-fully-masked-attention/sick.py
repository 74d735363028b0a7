"""Sets of variable size, pooled by attention; now and then a set is empty."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
torch.set_num_threads(1)


class AttentionPool(nn.Module):
    def __init__(self, width: int = 16) -> None:
        super().__init__()
        self.score = nn.Linear(width, 1)
        self.value = nn.Linear(width, width)

    def forward(self, x: torch.Tensor, present: torch.Tensor) -> torch.Tensor:
        scores = self.score(x).squeeze(-1).masked_fill(~present, float("-inf"))
        weights = scores.softmax(dim=-1)  # <- PM108
        pooled = (weights.unsqueeze(1) @ self.value(x)).squeeze(1)
        return pooled.masked_fill(~present.any(1, keepdim=True), 0.0)


class SetClassifier(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Linear(4, 16)
        self.pool = AttentionPool()
        self.head = nn.Linear(16, 2)

    def forward(self, x: torch.Tensor, present: torch.Tensor) -> torch.Tensor:
        return self.head(self.pool(F.relu(self.embed(x)), present))


model = SetClassifier()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for step in range(200):
    sizes = torch.randint(1, 8, (32, 1))
    if step == 120:
        sizes[9] = 0
    present = torch.arange(7) < sizes
    x = torch.randn(32, 7, 4) * present.unsqueeze(-1)
    label = (x[..., 0].sum(1) > 0).long()
    loss = F.cross_entropy(model(x, present), label)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 40 == 0:
        print(f"step {step} loss {loss.item():.3f}")
