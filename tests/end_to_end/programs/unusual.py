"""Double backward, hooks, activation checkpoints, parametrizations, own autograd functions, own optimizers."""

import torch
import torch.nn.functional as F
from fingerprint import bits, finish
from torch import nn
from torch.nn.utils.parametrizations import spectral_norm, weight_norm
from torch.utils.checkpoint import checkpoint

torch.manual_seed(0)


class Clamp(torch.autograd.Function):
    @staticmethod
    def forward(context, x):
        context.save_for_backward(x)
        return x.clamp(-1, 1)

    @staticmethod
    def backward(context, gradient):
        (x,) = context.saved_tensors
        return gradient * (x.abs() <= 1)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = weight_norm(nn.Linear(5, 10))
        self.second = spectral_norm(nn.Linear(10, 10))
        self.dropout = nn.Dropout(0.2)
        self.head = nn.Linear(10, 1)

    def forward(self, x):
        x = torch.relu(self.first(x))
        x = checkpoint(lambda h: self.dropout(torch.tanh(self.second(h))), x, use_reentrant=False)
        return self.head(Clamp.apply(x))


class Sign(torch.optim.Optimizer):
    def __init__(self, parameters, lr):
        super().__init__(parameters, {"lr": lr})

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                p.add_(p.grad.sign(), alpha=-group["lr"])


model = Net()
seen = []
model.head.register_forward_hook(lambda module, inputs, output: seen.append(float(output.detach().sum())))
model.head.weight.register_hook(lambda gradient: gradient * 0.5)
optimizer = Sign(model.parameters(), lr=0.002)
for _step in range(20):
    x = torch.randn(16, 5, requires_grad=True)
    output = model(x)
    (slope,) = torch.autograd.grad(output.sum(), x, create_graph=True)
    loss = F.smooth_l1_loss(output, x.detach().sum(1, keepdim=True)) + 0.01 * slope.norm(dim=1).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    bits(loss)
line = nn.Linear(3, 1)
solver = torch.optim.LBFGS(line.parameters(), lr=0.5, max_iter=5, line_search_fn="strong_wolfe")
x = torch.randn(40, 3)


def closure():
    solver.zero_grad()
    loss = F.mse_loss(line(x), x.sum(1, keepdim=True))
    loss.backward()
    return loss


for _step in range(4):
    bits(solver.step(closure))
print(sum(seen))
finish(model, line)
