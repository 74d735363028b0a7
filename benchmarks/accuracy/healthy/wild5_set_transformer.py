"""A set transformer with induced points and attention pooling finds the largest number and its gap to the next."""
import torch
import torch.nn as nn


class Attend(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.attention = nn.MultiheadAttention(width, 4, batch_first=True)
        self.one, self.two = nn.LayerNorm(width), nn.LayerNorm(width)
        self.mlp = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width))

    def forward(self, query, key, hidden=None):
        h = self.one(query + self.attention(query, key, key, key_padding_mask=hidden, need_weights=False)[0])
        return self.two(h + self.mlp(h))


class SetTransformer(nn.Module):
    def __init__(self, width=32, induced=6):
        super().__init__()
        self.lift = nn.Linear(1, width)
        self.points = nn.Parameter(0.3 * torch.randn(1, induced, width))
        self.seed = nn.Parameter(0.3 * torch.randn(1, 1, width))
        self.gather, self.spread, self.pool = Attend(width), Attend(width), Attend(width)
        self.out = nn.Linear(width, 2)

    def forward(self, sets, hidden):
        x = self.lift(sets[..., None])
        summary = self.gather(self.points.expand(len(x), -1, -1), x, hidden)
        x = self.spread(x, summary)
        return self.out(self.pool(self.seed.expand(len(x), -1, -1), x, hidden)).squeeze(1)


def sample(n):
    size = torch.randint(3, 11, (n, 1))
    hidden = torch.arange(10)[None] >= size
    values = torch.rand(n, 10) * 4 - 2
    top = values.masked_fill(hidden, -9).topk(2, dim=1).values
    return values.masked_fill(hidden, 0), hidden, torch.stack([top[:, 0], top[:, 0] - top[:, 1]], 1)


torch.manual_seed(5)
torch.set_num_threads(1)
model = SetTransformer()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 350)
for step in range(1, 351):
    values, hidden, target = sample(64)
    loss = nn.functional.mse_loss(model(values, hidden), target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    schedule.step()
    if step % 70 == 0:
        with torch.no_grad():
            values, hidden, target = sample(1000)
            r2 = 1 - (model(values, hidden) - target).pow(2).mean(0) / target.var(0)
        print(f"step {step} loss {loss.item():.4f} R2 of maximum {r2[0]:.3f}, of gap {r2[1]:.3f}")
