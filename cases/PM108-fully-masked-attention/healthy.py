"""Attention with empty rows done right: torch's own safe kernel, a large finite mask, and NaN rows that are replaced."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
torch.set_num_threads(1)


class Pools(nn.Module):
    def __init__(self, width: int = 16) -> None:
        super().__init__()
        self.embed = nn.Linear(4, width)
        self.query = nn.Parameter(torch.randn(1, 1, width) * 0.1)
        self.score = nn.Linear(width, 1)
        self.head = nn.Linear(3 * width, 2)

    def forward(self, x: torch.Tensor, present: torch.Tensor) -> torch.Tensor:
        h = F.relu(self.embed(x))
        mask = present[:, None, :]
        safe = F.scaled_dot_product_attention(self.query.expand(len(x), -1, -1), h, h, attn_mask=mask)
        scores = self.score(h).squeeze(-1)
        finite = scores.masked_fill(~present, torch.finfo(scores.dtype).min).softmax(-1)
        with torch.no_grad():  # only looked at: rows of NaN that nothing reads
            share = scores.masked_fill(~present, float("-inf")).softmax(-1)
            weight = share.nan_to_num(0.0)
        pooled = [safe.squeeze(1), (finite[..., None] * h).sum(1), (weight[..., None] * h).sum(1)]
        return self.head(torch.cat(pooled, dim=1))


model = Pools()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for step in range(200):
    present = torch.arange(7) < torch.randint(0, 8, (32, 1))
    x = torch.randn(32, 7, 4) * present.unsqueeze(-1)
    label = (x[..., 0].sum(1) > 0).long()
    loss = F.cross_entropy(model(x, present), label)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 40 == 0:
        print(f"step {step} loss {loss.item():.3f}")
