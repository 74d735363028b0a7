"""Sparse mixture of experts (top-1 routing) with a load-balancing term."""
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

EXPERTS = 4


class Expert(nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        self.up, self.down = nn.Linear(dim, hidden), nn.Linear(hidden, dim)

    def forward(self, x):
        return self.down(F.gelu(self.up(x)))


class SparseMoE(nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        self.router = nn.Linear(dim, EXPERTS)
        self.experts = nn.ModuleList(Expert(dim, hidden) for _ in range(EXPERTS))

    def forward(self, x):
        logits = self.router(x)
        if self.training:
            logits = logits + 0.3 * torch.randn_like(logits)
        probs = logits.softmax(dim=-1)
        gate, choice = probs.max(dim=-1)
        out = torch.zeros_like(x)
        for index, expert in enumerate(self.experts):
            rows = torch.nonzero(choice == index).flatten()
            if len(rows):
                out = out.index_add(0, rows, gate[rows].unsqueeze(1) * expert(x[rows]))
        load = F.one_hot(choice, EXPERTS).float().mean(0)
        balance = EXPERTS * (load * probs.mean(0)).sum()
        return x + out, balance, load


class Model(nn.Module):
    def __init__(self, n_in=6, dim=32):
        super().__init__()
        self.inp = nn.Linear(n_in, dim)
        self.norm = nn.LayerNorm(dim)
        self.moe = SparseMoE(dim, 48)
        self.out = nn.Linear(dim, 1)

    def forward(self, x):
        h, balance, load = self.moe(self.norm(self.inp(x)))
        return self.out(h).squeeze(-1), balance, load


def piecewise(n, gen):
    """Four regimes with different functions, chosen by the signs of two inputs."""
    x = torch.randn(n, 6, generator=gen)
    regime = (x[:, 0] > 0).long() * 2 + (x[:, 1] > 0).long()
    forms = torch.stack([torch.sin(2 * x[:, 2]), x[:, 3] * x[:, 4], x[:, 5].abs() - 1, -x[:, 2] + 0.5 * x[:, 3]], 1)
    return x, forms.gather(1, regime.unsqueeze(1)).squeeze(1)


def main():
    torch.manual_seed(4)
    gen = torch.Generator().manual_seed(4)
    x, y = piecewise(4000, gen)
    x_val, y_val = piecewise(1000, gen)
    mean, std = y.mean(), y.std()
    loader = DataLoader(TensorDataset(x, (y - mean) / std), batch_size=100, shuffle=True)
    y_val = (y_val - mean) / std
    model = Model()
    epochs = 25
    optimizer = torch.optim.AdamW(model.parameters(), lr=4e-3, weight_decay=1e-3)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs)
    for epoch in range(1, epochs + 1):
        model.train()
        total = 0.0
        for xb, yb in loader:
            pred, balance, _ = model(xb)
            loss = F.mse_loss(pred, yb) + 0.1 * balance
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        scheduler.step()
        if epoch % 5 == 0:
            model.eval()
            with torch.no_grad():
                pred, _, load = model(x_val)
                r2 = 1 - F.mse_loss(pred, y_val).item() / y_val.var().item()
            print(f"epoch {epoch} loss {total / len(loader):.4f} val R2 {r2:.3f} "
                  f"load {' '.join(f'{v:.2f}' for v in load.tolist())}")


if __name__ == "__main__":
    main()
