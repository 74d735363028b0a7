import copy
import math
import torch
import torch.nn as nn
from torch.func import functional_call

torch.manual_seed(0)
torch.set_num_threads(1)


def task():
    amp, ph = torch.rand(1) * 3 + 1.5, torch.rand(1) * math.pi

    def draw(n):
        x = torch.rand(n, 1) * 8 - 4
        return x, amp * torch.sin(x + ph)

    return draw


net = nn.Sequential(nn.Linear(1, 40), nn.Tanh(), nn.Linear(40, 40), nn.Tanh(), nn.Linear(40, 1))
meta_opt = torch.optim.Adam(net.parameters(), lr=4e-3)


def adapt(model, x, y, lr=0.05, steps=1):
    fast = {k: v for k, v in model.named_parameters()}
    for _ in range(steps):
        loss = nn.functional.mse_loss(functional_call(model, fast, (x,)), y)
        grads = torch.autograd.grad(loss, list(fast.values()), create_graph=True)
        fast = {k: v - lr * g for (k, v), g in zip(fast.items(), grads)}
    return fast


def evaluate(n=40):
    errs = []
    for _ in range(n):
        draw = task()
        fast = adapt(net, *draw(10), steps=5)
        x, y = draw(50)
        errs.append(nn.functional.mse_loss(functional_call(net, fast, (x,)), y).item())
    return sum(errs) / n


print("before: %.3f" % evaluate())
for it in range(250):
    meta_opt.zero_grad()
    total = 0.0
    for _ in range(4):
        draw = task()
        fast = adapt(net, *draw(10))
        x, y = draw(10)
        loss = nn.functional.mse_loss(functional_call(net, fast, (x,)), y) / 4
        loss.backward()
        total += loss.item()
    meta_opt.step()
    if it % 125 == 124:
        print(f"iter {it + 1} outer loss {total:.3f} error after five adaptation steps {evaluate():.3f}")
