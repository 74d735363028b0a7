"""Two regression tasks of different scale, balanced with GradNorm (Chen et al. 2018)."""

import torch
from torch import nn
from torch.nn.functional import mse_loss

torch.set_num_threads(1)
torch.manual_seed(0)


class TwoHeads(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(10, 64), nn.ReLU())
        self.shared = nn.Linear(64, 64)
        self.heads = nn.ModuleDict({"small": nn.Linear(64, 4), "large": nn.Linear(64, 4)})

    def forward(self, x):
        z = torch.relu(self.shared(self.trunk(x)))
        return {name: head(z) for name, head in self.heads.items()}


truth = {"small": torch.randn(10, 4) * 0.3, "large": torch.randn(10, 4) * 1.5}


def batch(n=64):
    x = torch.randn(n, 10)
    return x, {name: torch.tanh(x @ w) * (1 if name == "small" else 4) for name, w in truth.items()}


model = TwoHeads()
weights = nn.ParameterDict({name: nn.Parameter(torch.ones(())) for name in truth})
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
weight_optimizer = torch.optim.Adam(weights.parameters(), lr=5e-3)
first, alpha = None, 1.0

for step in range(260):
    x, y = batch()
    out = model(x)
    losses = {name: mse_loss(out[name], y[name]) for name in truth}
    if first is None:
        first = {name: loss.item() for name, loss in losses.items()}
    optimizer.zero_grad()
    weight_optimizer.zero_grad()
    total = sum(weights[name] * losses[name] for name in truth)
    total.backward(retain_graph=True)

    norms = {
        name: torch.autograd.grad(weights[name] * losses[name], model.shared.weight, create_graph=True)[0].norm()
        for name in truth
    }
    ratio = {name: losses[name].item() / first[name] for name in truth}
    mean_ratio = sum(ratio.values()) / len(ratio)
    mean_norm = (sum(norms.values()) / len(norms)).detach()
    balance = sum((norms[name] - mean_norm * (ratio[name] / mean_ratio) ** alpha).abs() for name in truth)
    for name in truth:
        weights[name].grad = torch.autograd.grad(balance, weights[name], retain_graph=True)[0]
    optimizer.step()
    weight_optimizer.step()
    with torch.no_grad():
        scale = len(weights) / sum(w.item() for w in weights.values())
        for w in weights.values():
            w.mul_(scale)
    if step % 50 == 0:
        print(step, {n: round(v.item(), 6) for n, v in losses.items()}, {n: w.item() for n, w in weights.items()})

print({name: losses[name].item() / first[name] for name in truth})
assert all(losses[name].item() < 0.3 * first[name] for name in truth)
