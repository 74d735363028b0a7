"""Quantisation-aware training: 4-bit fake-quantised weights by a custom autograd Function, float weights stay the masters."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits


class FakeQuant(torch.autograd.Function):
    @staticmethod
    def forward(ctx, w, bits):
        scale = w.abs().max() / (2 ** (bits - 1) - 1)
        ctx.save_for_backward(w.abs() <= w.abs().max())
        return torch.round(w / scale) * scale

    @staticmethod
    def backward(ctx, grad):
        (inside,) = ctx.saved_tensors
        return grad * inside, None


class QLinear(nn.Linear):
    def __init__(self, i, o, bits=4):
        super().__init__(i, o)
        self.bits, self.enabled = bits, False

    def forward(self, x):
        w = FakeQuant.apply(self.weight, self.bits) if self.enabled else self.weight
        return F.linear(x, w, self.bias)


def switch(model, on):
    for m in model.modules():
        if isinstance(m, QLinear):
            m.enabled = on


torch.manual_seed(0)
torch.set_num_threads(1)
d = load_digits()
x, y = torch.tensor(d.data, dtype=torch.float32) / 16, torch.tensor(d.target)
model = nn.Sequential(QLinear(64, 64), nn.ReLU(), QLinear(64, 64), nn.ReLU(), QLinear(64, 10))
opt = torch.optim.Adam(model.parameters(), lr=2e-3)
for epoch in range(16):
    if epoch == 6:
        switch(model, True)
        for g in opt.param_groups:
            g["lr"] = 1e-3
        print("quantised forward from here")
    model.train()
    for b in torch.randperm(1300).split(50):
        loss = F.cross_entropy(model(x[b]), y[b])
        opt.zero_grad()
        loss.backward()
        opt.step()
    model.eval()
    with torch.no_grad():
        acc = (model(x[1300:]).argmax(1) == y[1300:]).float().mean()
    if epoch % 3 == 0:
        print(f"epoch {epoch + 1}: loss {loss.item():.3f}, accuracy {acc:.3f}")
