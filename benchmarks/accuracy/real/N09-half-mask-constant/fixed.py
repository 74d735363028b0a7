"""Half-precision attention scores with an additive mask: pair each query with its nearest valid key."""
import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(8)
INF = 1e4


class GatedAttention(nn.Module):
    def __init__(self, dim=16):
        super().__init__()
        self.q = nn.Linear(dim, dim)
        self.k = nn.Linear(dim, dim)
        self.v = nn.Linear(dim, dim)
        self.scale = dim**-0.5

    def forward(self, x, mask):
        scores = self.q(x).half() @ self.k(x).half().transpose(1, 2) * self.scale
        bias = ((1 - mask.half()) * -INF).unsqueeze(1)
        attention = torch.softmax((scores + bias).float(), dim=-1)
        return attention @ self.v(x)


class Ranker(nn.Module):
    def __init__(self, dim=16):
        super().__init__()
        self.attend = GatedAttention(dim)
        self.norm = nn.LayerNorm(dim)
        self.score = nn.Linear(dim, 1)

    def forward(self, x, mask):
        h = self.norm(x + self.attend(x, mask))
        return self.score(h * mask.unsqueeze(-1)).squeeze(-1).sum(1)


def make_batch(n=32, length=10, dim=16):
    lengths = torch.randint(0, length + 1, (n,))
    mask = (torch.arange(length) < lengths[:, None]).float()
    x = torch.randn(n, length, dim) * mask.unsqueeze(-1)
    return x, mask, (x[..., 0] * mask).sum(1)


model = Ranker()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for step in range(150):
    x, mask, target = make_batch()
    loss = nn.functional.mse_loss(model(x, mask), target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 25 == 0:
        print(f"step {step} loss {loss.item():.4f}")
