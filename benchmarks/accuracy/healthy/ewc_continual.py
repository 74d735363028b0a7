"""Two tasks one after the other with elastic weight consolidation; the Fisher information needs backward passes of its own."""

import torch
import torch.nn.functional as F
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(0)


def task(rotation, n=800):
    x = torch.randn(n, 10)
    y = (x @ rotation > 0).long()
    return x, y


a, b = torch.randn(10), torch.randn(10)
x_a, y_a = task(a)
x_b, y_b = task(b)
# task B lives in another part of the input
x_a, x_b = torch.cat([x_a, torch.zeros(800, 1)], 1), torch.cat([x_b, torch.ones(800, 1)], 1)

model = nn.Sequential(nn.Linear(11, 80), nn.ReLU(), nn.Linear(80, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)


def accuracy(x, y):
    with torch.no_grad():
        return (model(x).argmax(1) == y).float().mean().item()


def run(x, y, epochs, penalty=lambda: 0.0):
    for epoch in range(epochs):
        for rows in torch.randperm(len(x)).split(40):
            loss = F.cross_entropy(model(x[rows]), y[rows]) + penalty()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"  epoch {epoch}: {loss.item()!r} A {accuracy(x_a, y_a):.4f} B {accuracy(x_b, y_b):.4f}")


def fisher_information(x, y, samples=150):
    fisher = {name: torch.zeros_like(p) for name, p in model.named_parameters()}
    for i in torch.randperm(len(x))[:samples].tolist():
        model.zero_grad()
        F.nll_loss(F.log_softmax(model(x[i : i + 1]), dim=1), y[i : i + 1]).backward()
        for name, p in model.named_parameters():
            fisher[name] += p.grad.detach() ** 2 / samples
    model.zero_grad()
    return fisher


print("task A")
run(x_a, y_a, epochs=6)
fisher = fisher_information(x_a, y_a)
anchor = {name: p.detach().clone() for name, p in model.named_parameters()}
print("task B")
run(
    x_b,
    y_b,
    epochs=6,
    penalty=lambda: 300 * sum((fisher[n] * (p - anchor[n]) ** 2).sum() for n, p in model.named_parameters()),
)
print(accuracy(x_a, y_a), accuracy(x_b, y_b))
assert accuracy(x_b, y_b) > 0.85 and accuracy(x_a, y_a) > 0.7
