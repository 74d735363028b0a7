"""FGSM and PGD training: attacks run in eval mode with gradients of the input, the update in train mode."""

import torch
from torch import nn
from torch.nn import functional as F

torch.set_num_threads(1)
torch.manual_seed(0)
centres = torch.tensor([[2.0, 0.0], [-2.0, 0.0], [0.0, 2.5]]).repeat(1, 4)


def batch(n):
    y = torch.randint(3, (n,))
    return centres[y] + 0.7 * torch.randn(n, 8), y


model = nn.Sequential(nn.Linear(8, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Dropout(0.1), nn.Linear(64, 3))


def fgsm(x, y, epsilon):
    x = x.clone().detach().requires_grad_(True)
    loss = F.cross_entropy(model(x), y)
    model.zero_grad()
    loss.backward()
    return (x + epsilon * x.grad.sign()).detach()


def pgd(x, y, epsilon, steps=4):
    delta = torch.zeros_like(x).uniform_(-epsilon, epsilon).requires_grad_(True)
    for _ in range(steps):
        F.cross_entropy(model(x + delta), y).backward()
        delta.data = (delta.data + 0.4 * epsilon * delta.grad.sign()).clamp(-epsilon, epsilon)
        delta.grad.zero_()
    return (x + delta).detach()


optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
for step in range(140):
    x, y = batch(64)
    model.eval()
    attack = fgsm(x, y, 0.4) if step < 60 else pgd(x, y, 0.4)
    model.train()
    optimizer.zero_grad()
    loss = 0.5 * F.cross_entropy(model(x), y) + 0.5 * F.cross_entropy(model(attack), y)
    loss.backward()
    optimizer.step()
    if step % 20 == 0:
        print(step, loss.item())

model.eval()
x, y = batch(1000)
attacked = pgd(x, y, 0.4)
with torch.no_grad():
    clean = (model(x).argmax(1) == y).float().mean().item()
    robust = (model(attacked).argmax(1) == y).float().mean().item()
print("clean", clean, "robust", robust)
assert clean > 0.95 and robust > 0.8
