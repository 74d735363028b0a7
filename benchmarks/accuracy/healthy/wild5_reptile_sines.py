"""Reptile: move towards the weights a few steps of ordinary training lead to; no second-order gradients."""
import copy
import math

import torch
import torch.nn as nn

torch.manual_seed(1)
torch.set_num_threads(1)


def task():
    amplitude, phase = 0.5 + 2 * torch.rand(1), math.pi * torch.rand(1)
    return lambda x: amplitude * torch.sin(x + phase)


def inner(net, f, steps, shots=10):
    x = torch.rand(shots, 1) * 10 - 5
    optimizer = torch.optim.SGD(net.parameters(), lr=0.02)
    for _ in range(steps):
        optimizer.zero_grad()
        nn.functional.mse_loss(net(x), f(x)).backward()
        optimizer.step()


def adapted_error(meta, tasks):
    grid = torch.linspace(-5, 5, 60)[:, None]
    errors = []
    for f in tasks:
        net = copy.deepcopy(meta)
        inner(net, f, 16)
        with torch.no_grad():
            errors.append(nn.functional.mse_loss(net(grid), f(grid)).item())
    return sum(errors) / len(errors)


meta = nn.Sequential(nn.Linear(1, 48), nn.Tanh(), nn.Linear(48, 48), nn.Tanh(), nn.Linear(48, 1))
held_out = [task() for _ in range(20)]
print(f"error after adaptation, before meta-training {adapted_error(meta, held_out):.3f}")
rounds = 700
for r in range(rounds):
    fast = copy.deepcopy(meta)
    inner(fast, task(), 6, shots=20)
    rate = 0.3 * (1 - r / rounds)
    with torch.no_grad():
        for slow, quick in zip(meta.parameters(), fast.parameters()):
            slow.lerp_(quick, rate)
print(f"error after adaptation, after meta-training {adapted_error(meta, held_out):.3f}")
