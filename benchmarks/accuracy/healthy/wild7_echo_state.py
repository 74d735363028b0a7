"""Reservoir computing: a frozen random recurrent layer, only the linear read-out is trained."""
import math

import torch
import torch.nn as nn


class EchoState(nn.Module):
    def __init__(self, size=150, radius=0.9, leak=0.5):
        super().__init__()
        w = torch.randn(size, size) / math.sqrt(size)
        w = w * radius / torch.linalg.eigvals(w).abs().max()
        self.w = nn.Parameter(w, requires_grad=False)
        self.w_in = nn.Parameter(torch.randn(size, 1) * 0.5, requires_grad=False)
        self.leak = leak
        self.readout = nn.Linear(size, 1)

    @torch.no_grad()
    def states(self, u):
        h = torch.zeros(self.w.size(0))
        out = []
        for v in u:
            h = (1 - self.leak) * h + self.leak * torch.tanh(self.w @ h + self.w_in[:, 0] * v)
            out.append(h)
        return torch.stack(out)

    def forward(self, s):
        return self.readout(s).squeeze(-1)


torch.manual_seed(0)
t = torch.arange(2400) * 0.1
u = torch.sin(t) * torch.cos(0.31 * t) + 0.05 * torch.randn(len(t))
model = EchoState()
S = model.states(u)
inputs, targets = S[100:-5], u[105:]
n = 1800
opt = torch.optim.Adam(filter(lambda p: p.requires_grad, model.parameters()), lr=1e-2)
for step in range(1, 501):
    i = torch.randint(0, n, (128,))
    loss = nn.functional.mse_loss(model(inputs[i]), targets[i])
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 100 == 0:
        with torch.no_grad():
            test = nn.functional.mse_loss(model(inputs[n:]), targets[n:]).item()
        print(f"step {step} train mse {loss.item():.4f} test mse {test:.4f} (variance {targets[n:].var().item():.3f})")
