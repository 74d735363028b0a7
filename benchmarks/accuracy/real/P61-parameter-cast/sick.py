"""Mixture of experts for tabular regression, gates initialised with numpy."""
import numpy as np
import torch
import torch.nn as nn


class Expert(nn.Module):
    def __init__(self, n_in, hidden):
        super().__init__()
        self.fc1 = nn.Linear(n_in, hidden)
        self.fc2 = nn.Linear(hidden, 1)

    def forward(self, x):
        return self.fc2(torch.tanh(self.fc1(x)))


class MoE(nn.Module):
    def __init__(self, n_in, experts=4, rng=None):
        super().__init__()
        self.experts = nn.ModuleList(Expert(n_in, 8) for _ in range(experts))
        init = rng.normal(0.0, 0.02, size=(n_in, experts))
        self.w_gate = nn.Parameter(torch.from_numpy(init)).float()  # <- PM401

    def forward(self, x):
        gates = torch.softmax(x @ self.w_gate, dim=-1)
        outputs = torch.cat([expert(x) for expert in self.experts], dim=-1)
        return (gates * outputs).sum(-1, keepdim=True)


def make_table(rng, n):
    x = rng.normal(size=(n, 6))
    regime = (x[:, 0] > 0).astype(int) * 2 + (x[:, 1] > 0).astype(int)
    slope = np.array([[2, -1, 0, 1], [-2, 1, 1, 0], [0, 2, -2, 1], [1, 0, 2, -2]], dtype=float)
    y = (x[:, 2:] * slope[regime]).sum(1) + 0.1 * rng.normal(size=n)
    return torch.tensor(x, dtype=torch.float32), torch.tensor(y, dtype=torch.float32).unsqueeze(1)


def main():
    rng = np.random.default_rng(0)
    torch.manual_seed(0)
    x, y = make_table(rng, 2000)
    x_val, y_val = make_table(rng, 500)
    model = MoE(6, rng=rng)
    opt = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(12):
        for idx in torch.randperm(len(x)).split(64):
            loss = nn.functional.mse_loss(model(x[idx]), y[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
        with torch.no_grad():
            print(epoch, round(loss.item(), 4), round(nn.functional.mse_loss(model(x_val), y_val).item(), 4))


main()
