"""Top-2 routed mixture of experts with a load-balancing term on a piecewise task."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class MoE(nn.Module):
    def __init__(self, d=8, h=32, n=4, k=2):
        super().__init__()
        self.router = nn.Linear(d, n)
        self.experts = nn.ModuleList(nn.Sequential(nn.Linear(d, h), nn.GELU(), nn.Linear(h, 1)) for _ in range(n))
        self.k = k

    def forward(self, x):
        probs = self.router(x).softmax(-1)
        top, where = probs.topk(self.k, dim=-1)
        top = top / top.sum(-1, keepdim=True)
        out = x.new_zeros(len(x), 1)
        for e, expert in enumerate(self.experts):
            rows, slot = (where == e).nonzero(as_tuple=True)
            if len(rows):
                out = out.index_add(0, rows, expert(x[rows]) * top[rows, slot].unsqueeze(1))
        used = F.one_hot(where, probs.size(1)).float().sum(1).mean(0) / self.k
        balance = probs.size(1) * (used * probs.mean(0)).sum()
        return out.squeeze(1), balance, used


def task(n, seed):
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, 8, generator=g)
    a, b = x[:, 0] > 0, x[:, 1] > 0
    y = torch.where(a, torch.where(b, x[:, 2] * 2, -x[:, 3] * 2), torch.where(b, x[:, 4].sin() * 2, x[:, 5] ** 2 - 1))
    return x, y + 0.05 * torch.randn(n, generator=g)


torch.manual_seed(0)
torch.set_num_threads(1)
x, y = task(3000, 1)
xv, yv = task(600, 2)
model = MoE()
opt = torch.optim.AdamW(model.parameters(), lr=4e-3, weight_decay=1e-4)
for epoch in range(20):
    for b in torch.randperm(len(x)).split(60):
        out, balance, _ = model(x[b])
        loss = F.mse_loss(out, y[b]) + 0.01 * balance
        opt.zero_grad()
        loss.backward()
        opt.step()
    if epoch % 4 == 3:
        with torch.no_grad():
            out, _, used = model(xv)
        print(f"epoch {epoch + 1}: validation mse {F.mse_loss(out, yv):.3f} of {yv.var():.3f}, use {[round(u, 2) for u in used.tolist()]}")
