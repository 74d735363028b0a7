"""No optimizer at all: parameters updated under no_grad, momentum kept in .grad, then Lookahead by hand around Adam."""

import numpy as np
import torch

torch.set_num_threads(1)
torch.manual_seed(0)
rng = np.random.default_rng(0)
X = rng.normal(size=(1000, 12)).astype(np.float32)
Y = (np.tanh(X @ rng.normal(size=(12, 3))) + 0.05 * rng.normal(size=(1000, 3))).astype(np.float32)

# 1. plain tensors, plain loop
W1 = (torch.randn(12, 40) / 12**0.5).requires_grad_()
b1 = torch.zeros(40, requires_grad=True)
W2 = (torch.randn(40, 3) / 40**0.5).requires_grad_()
b2 = torch.zeros(3, requires_grad=True)
weights = [W1, b1, W2, b2]


def forward(x):
    return torch.tanh(x @ W1 + b1) @ W2 + b2


for step in range(300):
    rows = rng.integers(0, 800, 64)
    loss = (forward(torch.from_numpy(X[rows])) - torch.from_numpy(Y[rows])).pow(2).mean()
    loss.backward()
    with torch.no_grad():
        for w in weights:
            w -= 0.1 * w.grad
            w.grad.mul_(0.6)  # heavy ball: what is left in .grad is the momentum
    if step % 60 == 0:
        print("manual", step, loss.item())

# 2. the same with functional updates
params = [w.detach().clone() * 0.1 for w in weights]
for step in range(200):
    rows = rng.integers(0, 800, 64)
    leaves = [p.detach().requires_grad_() for p in params]
    out = torch.tanh(torch.from_numpy(X[rows]) @ leaves[0] + leaves[1]) @ leaves[2] + leaves[3]
    loss = torch.nn.functional.mse_loss(out, torch.from_numpy(Y[rows]))
    grads = torch.autograd.grad(loss, leaves)
    params = [p - 0.2 * g for p, g in zip(leaves, grads)]
print("functional", loss.item())

# 3. Lookahead around Adam
net = torch.nn.Sequential(torch.nn.Linear(12, 40), torch.nn.Tanh(), torch.nn.Linear(40, 3))
fast = torch.optim.Adam(net.parameters(), lr=1e-2)
slow = [p.detach().clone() for p in net.parameters()]
for step in range(200):
    rows = rng.integers(0, 800, 64)
    loss = torch.nn.functional.mse_loss(net(torch.from_numpy(X[rows])), torch.from_numpy(Y[rows]))
    for p in net.parameters():
        p.grad = None
    loss.backward()
    fast.step()
    if step % 5 == 4:
        with torch.no_grad():
            for s, p in zip(slow, net.parameters()):
                s += 0.5 * (p - s)
                p.copy_(s)
    if step % 50 == 0:
        print("lookahead", step, loss.item())
with torch.no_grad():
    test = torch.nn.functional.mse_loss(net(torch.from_numpy(X[800:])), torch.from_numpy(Y[800:])).item()
print("test", test, "variance", Y[800:].var())
assert test < 0.2 * Y[800:].var()
