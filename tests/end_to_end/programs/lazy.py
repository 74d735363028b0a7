"""Layers that learn their input's size from a first call, made once to look at shapes; then one that grows."""

import torch
from fingerprint import bits, finish
from torch import nn

torch.manual_seed(0)
x = torch.randn(96, 1, 12, 12)
y = (x.mean((1, 2, 3)) > 0).long()


def make():
    return nn.Sequential(
        nn.LazyConv2d(4, 5, padding=2), nn.ReLU(), nn.AvgPool2d(2), nn.LazyConv2d(8, 3), nn.ReLU(), nn.Flatten(),
        nn.LazyLinear(2),
    )  # fmt: skip


shown = x[:1]
for layer in make():
    shown = layer(shown)
    print(type(layer).__name__, tuple(shown.shape))
model = make()
model(x[:1])
model.apply(lambda layer: nn.init.xavier_uniform_(layer.weight) if hasattr(layer, "weight") else None)
for width in (2, 3):
    head = model[-1]
    if head.out_features < width:  # a class more: the same parameter, with other data
        head.weight.data = torch.cat([head.weight.data, torch.zeros(1, head.in_features)])
        head.bias.data = torch.cat([head.bias.data, torch.zeros(1)])
        head.weight.grad = head.bias.grad = None
        head.out_features = width
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for batch in [batch for _ in range(3) for batch in torch.randperm(96).split(24)]:
        loss = nn.functional.cross_entropy(model(x[batch]), y[batch])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        bits(loss)
        del loss  # its graph knows the shapes that parameters had
finish(model)
