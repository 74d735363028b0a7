"""Reptile meta-learning: inner SGD on copies, outer step towards the adapted weights through an optimizer."""
import copy

import torch
import torch.nn.functional as F
from torch import nn


class SineTask:
    def __init__(self, gen):
        self.amp = 0.5 + 1.5 * torch.rand((), generator=gen)
        self.phase = 3.14 * torch.rand((), generator=gen)
        self.gen = gen

    def sample(self, n):
        x = 6 * torch.rand(n, 1, generator=self.gen) - 3
        return x / 1.7, self.amp * torch.sin(x + self.phase)


def network():
    return nn.Sequential(nn.Linear(1, 40), nn.Tanh(), nn.Linear(40, 40), nn.Tanh(), nn.Linear(40, 1))


def adapt(model, x, y, steps, lr, batch=None):
    """A few steps of SGD on a copy; the original stays as it is."""
    learner = copy.deepcopy(model)
    inner = torch.optim.SGD(learner.parameters(), lr=lr)
    for i in range(steps):
        rows = slice(None) if batch is None else torch.arange(i * batch, (i + 1) * batch) % len(x)
        loss = F.mse_loss(learner(x[rows]), y[rows])
        inner.zero_grad()
        loss.backward()
        inner.step()
    return learner, loss.item()


def reptile_gradient(model, learner):
    """The outer 'gradient' is the difference between the old and the adapted weights."""
    for slow, fast in zip(model.parameters(), learner.parameters()):
        slow.grad = slow.detach() - fast.detach()


def few_shot_error(model, tasks, shots=10):
    before = after = 0.0
    for task in tasks:
        x, y = task.sample(shots)
        xq, yq = task.sample(100)
        learner, _ = adapt(model, x, y, steps=20, lr=0.05)
        with torch.no_grad():
            before += F.mse_loss(model(xq), yq).item()
            after += F.mse_loss(learner(xq), yq).item()
    return before / len(tasks), after / len(tasks)


def main():
    torch.manual_seed(6)
    gen = torch.Generator().manual_seed(6)
    val_tasks = [SineTask(torch.Generator().manual_seed(1000 + i)) for i in range(20)]
    model = network()
    rounds = 400
    outer = torch.optim.SGD(model.parameters(), lr=0.6)
    scheduler = torch.optim.lr_scheduler.LambdaLR(outer, lambda r: 1 - 0.9 * r / rounds)
    losses = []
    print("scratch: before %.3f after %.3f" % few_shot_error(model, val_tasks))
    for r in range(1, rounds + 1):
        x, y = SineTask(gen).sample(30)
        learner, loss = adapt(model, x, y, steps=9, lr=0.05, batch=10)
        outer.zero_grad()
        reptile_gradient(model, learner)
        outer.step()
        scheduler.step()
        losses.append(loss)
        if r % 100 == 0:
            before, after = few_shot_error(model, val_tasks)
            print(f"round {r} inner loss {sum(losses[-100:]) / 100:.3f} new tasks: before {before:.3f} after {after:.3f}")


if __name__ == "__main__":
    main()
