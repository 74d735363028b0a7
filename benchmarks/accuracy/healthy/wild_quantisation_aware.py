"""Quantisation-aware training by hand: fake-quantised weights and activations with a straight-through estimator."""
import torch
from sklearn.datasets import load_digits
from torch import nn


def fake_quant(x, scale, bits):
    top = 2 ** (bits - 1) - 1
    q = (x / scale).clamp(-top - 1, top)
    return (q + (q.round() - q).detach()) * scale


class QuantLinear(nn.Linear):
    def __init__(self, i, o, bits=3):
        super().__init__(i, o)
        self.bits = bits
        self.register_buffer("range", torch.tensor(1.0))

    def forward(self, x):
        if self.training:
            with torch.no_grad():
                self.range.lerp_(x.abs().max(), 0.05)
        top = 2 ** (self.bits - 1) - 1
        x = fake_quant(x, self.range / top, self.bits)
        w = fake_quant(self.weight, self.weight.detach().abs().amax() / top, self.bits)
        return nn.functional.linear(x, w, self.bias)


def build(layer):
    return nn.Sequential(layer(64, 64), nn.ReLU(), layer(64, 10))


def accuracy(net, x, y):
    net.eval()
    with torch.no_grad():
        return (net(x).argmax(1) == y).float().mean().item()


def fit(net, x, y, epochs, lr):
    opt = torch.optim.Adam(net.parameters(), lr=lr)
    for epoch in range(epochs):
        net.train()
        for idx in torch.randperm(len(x)).split(50):
            loss = nn.functional.cross_entropy(net(x[idx]), y[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
    return loss.item()


torch.manual_seed(0)
torch.set_num_threads(1)
d = load_digits()
x, y = torch.tensor(d.data, dtype=torch.float32) / 16, torch.tensor(d.target)
x, vx, y, vy = x[:1400], x[1400:], y[:1400], y[1400:]
full = build(nn.Linear)
print(f"float training loss {fit(full, x, y, 8, 3e-3):.4f} accuracy {accuracy(full, vx, vy):.3f}")
quant = build(QuantLinear)
quant.load_state_dict(full.state_dict(), strict=False)
print(f"3 bits, no training: accuracy {accuracy(quant, vx, vy):.3f}")
print(f"3 bits, trained: loss {fit(quant, x, y, 8, 1e-3):.4f} accuracy {accuracy(quant, vx, vy):.3f}")
