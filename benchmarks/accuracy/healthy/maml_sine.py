"""MAML by hand: inner steps with autograd.grad and create_graph, an outer Adam; evaluation needs gradients, too."""

import torch
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(0)


def task():
    amplitude, phase = 0.5 + 2 * torch.rand(()), torch.pi * torch.rand(())

    def sample(n):
        x = 6 * torch.rand(n, 1) - 3
        return x, amplitude * torch.sin(x + phase)

    return sample


def init(*sizes):
    theta = []
    for i, o in zip(sizes, sizes[1:]):
        theta += [torch.nn.Parameter(torch.randn(o, i) / i**0.5), torch.nn.Parameter(torch.zeros(o))]
    return theta


def net(x, theta):
    for i in range(0, len(theta) - 2, 2):
        x = torch.tanh(F.linear(x, theta[i], theta[i + 1]))
    return F.linear(x, theta[-2], theta[-1])


def adapt(theta, x, y, steps, lr, create_graph):
    for _ in range(steps):
        gradients = torch.autograd.grad(F.mse_loss(net(x, theta), y), theta, create_graph=create_graph)
        theta = [p - lr * g for p, g in zip(theta, gradients)]
    return theta


def evaluate(theta, n=30):
    total = 0.0
    for _ in range(n):
        sample = task()
        adapted = adapt(theta, *sample(10), steps=3, lr=0.05, create_graph=False)
        x, y = sample(50)
        with torch.no_grad():
            total += F.mse_loss(net(x, adapted), y).item()
    return total / n


theta = init(1, 40, 40, 1)
meta = torch.optim.Adam(theta, lr=2e-3)
before = evaluate(theta)
print("before", before)
for iteration in range(220):
    meta.zero_grad()
    total = 0.0
    for _ in range(4):
        sample = task()
        adapted = adapt(theta, *sample(10), steps=1, lr=0.05, create_graph=True)
        x, y = sample(10)
        loss = F.mse_loss(net(x, adapted), y) / 4
        loss.backward()
        total += loss.item()
    meta.step()
    if iteration % 40 == 0:
        print(iteration, total)
after = evaluate(theta)
print("after", after)
assert after < 0.75 * before
