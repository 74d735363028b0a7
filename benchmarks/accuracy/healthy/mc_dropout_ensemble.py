"""Uncertainty: Monte-Carlo dropout with the whole model in train mode, and a deep ensemble with best-epoch snapshots."""

import copy

import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(0)
x = torch.cat([torch.rand(150) - 2, torch.rand(150) + 1]).unsqueeze(1)
y = torch.sin(2 * x) + 0.1 * torch.randn_like(x)
x_val = torch.cat([torch.rand(40) - 2, torch.rand(40) + 1]).unsqueeze(1)
y_val = torch.sin(2 * x_val) + 0.1 * torch.randn_like(x_val)


class Regressor(nn.Module):
    def __init__(self, p=0.1):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(1, 64), nn.ReLU(), nn.Dropout(p), nn.Linear(64, 64), nn.ReLU(), nn.Dropout(p), nn.Linear(64, 1)
        )

    def forward(self, inputs):
        return self.net(inputs)


def fit(model, epochs=60):
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3, weight_decay=1e-5)
    best, snapshot = float("inf"), None
    for epoch in range(epochs):
        model.train()
        for rows in torch.randperm(len(x)).split(100):
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(model(x[rows]), y[rows])
            loss.backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            val = nn.functional.mse_loss(model(x_val), y_val).item()
        if val < best:
            best, snapshot = val, copy.deepcopy(model.state_dict())
    model.load_state_dict(snapshot)
    return best


def mc_predict(model, inputs, passes=30):
    model.train()  # keep dropout on
    with torch.no_grad():
        draws = torch.stack([model(inputs) for _ in range(passes)])
    model.eval()
    return draws.mean(0), draws.std(0)


model = Regressor()
print("validation", fit(model))
mean, std = mc_predict(model, x_val)
error = nn.functional.mse_loss(mean, y_val).item()
gap = mc_predict(model, torch.zeros(1, 1))[1].item()
print("mc error", error, "std on data", std.mean().item(), "std in the gap", gap)

ensemble = [Regressor(p=0.0) for _ in range(3)]
print("members", [fit(member, epochs=30) for member in ensemble])
with torch.no_grad():
    together = torch.stack([member(x_val) for member in ensemble]).mean(0)
print("ensemble", nn.functional.mse_loss(together, y_val).item())
assert error < 0.1
