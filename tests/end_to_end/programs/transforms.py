"""torch.func: per-sample gradients, a Hessian, functional calls, and an ensemble trained with vmap."""

import torch
import torch.nn.functional as F
from fingerprint import bits, finish
from torch import nn
from torch.func import functional_call, grad, hessian, jacrev, stack_module_state, vmap

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.2)


def loss_of(parameters, x, y):
    return F.cross_entropy(functional_call(model, parameters, (x[None],)), y[None])


for step in range(16):
    x = torch.randn(12, 4)
    y = (x[:, 0] > 0).long()
    loss = F.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    bits(loss)
    parameters = {name: p.detach() for name, p in model.named_parameters()}
    each = vmap(grad(loss_of), in_dims=(None, 0, 0), randomness="different")(parameters, x, y)
    bits(each["0.weight"].norm())
    if step % 5 == 0:
        bits(hessian(lambda w, x=x, y=y: F.mse_loss(torch.tanh(x @ w), y.float()))(torch.zeros(4)).sum())
        bits(jacrev(lambda inputs: model(inputs).sum(0))(x).abs().sum())
models = [nn.Linear(4, 2) for _ in range(3)]
ensemble, buffers = stack_module_state(models)
outputs = vmap(lambda p, b, x: functional_call(models[0], (p, b), (x,)), in_dims=(0, 0, None))(ensemble, buffers, x)
bits(outputs.sum())
finish(model)
