"""Healthy: top-1 mixture of experts; in any one step some experts get no tokens and hence no gradient, a balance loss keeps all in use."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Top1MoE(nn.Module):
    def __init__(self, dim, n_experts=6, hidden=32):
        super().__init__()
        self.router = nn.Linear(dim, n_experts)
        self.experts = nn.ModuleList(
            nn.Sequential(nn.Linear(dim, hidden), nn.ReLU(), nn.Linear(hidden, dim)) for _ in range(n_experts)
        )

    def forward(self, x):
        probs = self.router(x).softmax(-1)
        gate, choice = probs.max(-1)
        out = torch.zeros_like(x)
        for i, expert in enumerate(self.experts):
            rows = (choice == i).nonzero().squeeze(1)
            if len(rows):
                out = out.index_add(0, rows, gate[rows, None] * expert(x[rows]))
        load = F.one_hot(choice, len(self.experts)).float().mean(0)
        balance = len(self.experts) * (load * probs.mean(0)).sum()
        return x + out, balance, load


class Model(nn.Module):
    def __init__(self, n_in=8, dim=32):
        super().__init__()
        self.inp = nn.Linear(n_in, dim)
        self.moe = Top1MoE(dim)
        self.out = nn.Linear(dim, 1)

    def forward(self, x):
        h, balance, load = self.moe(F.relu(self.inp(x)))
        return self.out(h).squeeze(1), balance, load


def piecewise(n, gen):
    """Four regimes, each with its own linear law."""
    x = torch.randn(n, 8, generator=gen)
    regime = (x[:, 0] > 0).long() * 2 + (x[:, 1] > 0).long()
    w = torch.tensor([[1.0, -1, 0.5], [-1, 0.5, 1], [0.5, 1, -1], [-0.5, -1, -1]])
    y = (x[:, 2:5] * w[regime]).sum(1)
    return x, y + 0.05 * torch.randn(n, generator=gen)


def main():
    torch.manual_seed(3)
    gen = torch.Generator().manual_seed(3)
    xtr, ytr = piecewise(3000, gen)
    xte, yte = piecewise(800, gen)
    model = Model()
    opt = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(1, 17):
        model.train()
        total = 0.0
        for idx in torch.randperm(len(xtr), generator=gen).split(64):
            pred, balance, _ = model(xtr[idx])
            loss = F.mse_loss(pred, ytr[idx]) + 0.2 * balance
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item() * len(idx)
        if epoch % 4 == 0:
            model.eval()
            with torch.no_grad():
                pred, _, load = model(xte)
            r2 = 1 - F.mse_loss(pred, yte) / yte.var()
            print(f"epoch {epoch}  loss {total / len(xtr):.4f}  test R2 {r2:.4f}  expert load {[round(v, 2) for v in load.tolist()]}")


if __name__ == "__main__":
    main()
