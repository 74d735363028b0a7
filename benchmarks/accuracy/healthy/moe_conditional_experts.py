"""Mixture of experts with top-1 routing: an expert without tokens in a batch is not called at all."""

import torch
from torch import nn
from torch.nn import functional as F


class Expert(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.up, self.down = nn.Linear(d, h), nn.Linear(h, d)

    def forward(self, x):
        return self.down(F.silu(self.up(x)))


class SparseMoE(nn.Module):
    def __init__(self, d, h, experts):
        super().__init__()
        self.router = nn.Linear(d, experts, bias=False)
        self.experts = nn.ModuleList(Expert(d, h) for _ in range(experts))

    def forward(self, x):
        probabilities = F.softmax(self.router(x), dim=-1)
        gate, choice = probabilities.max(dim=-1)
        out = torch.zeros_like(x)
        for i, expert in enumerate(self.experts):
            rows = (choice == i).nonzero(as_tuple=True)[0]
            if len(rows):
                out[rows] = gate[rows].unsqueeze(1) * expert(x[rows])
        share = F.one_hot(choice, len(self.experts)).float().mean(0)
        balance = len(self.experts) * (share * probabilities.mean(0)).sum()
        return x + out, balance, share


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.inp, self.moe, self.out = nn.Linear(6, 32), SparseMoE(32, 48, 8), nn.Linear(32, 1)

    def forward(self, x):
        h, balance, share = self.moe(self.inp(x))
        return self.out(h).squeeze(-1), balance, share


def sample(n):
    x = torch.randn(n, 6)
    region = (x[:, 0] > 0).long() * 2 + (x[:, 1] > 0).long()
    slopes = torch.tensor([[1.0, 2], [-2, 1], [0.5, -1], [2, 2]])
    return x, (x[:, 2:4] * slopes[region]).sum(1)


torch.set_num_threads(1)
torch.manual_seed(0)
model = Model()
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=300)
for step in range(300):
    x, y = sample(24)
    prediction, balance, share = model(x)
    loss = F.mse_loss(prediction, y) + 0.01 * balance
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()
    if step % 50 == 0:
        print(step, loss.item(), [round(s, 3) for s in share.tolist()])
model.eval()
with torch.no_grad():
    x, y = sample(1000)
    error = F.mse_loss(model(x)[0], y).item() / y.var().item()
print("relative error", error)
assert error < 0.5
