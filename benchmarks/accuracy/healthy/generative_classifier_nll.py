"""A generative classifier: class-conditional Gaussians trained on the joint likelihood; log-densities may be positive."""

import math

import torch
from torch import nn
from torch.nn import functional as F

torch.set_num_threads(1)
torch.manual_seed(0)


class ClassConditionalGaussian(nn.Module):
    def __init__(self, features, classes):
        super().__init__()
        self.mean = nn.Parameter(0.1 * torch.randn(classes, features))
        self.log_std = nn.Parameter(torch.zeros(classes, features))
        self.prior = nn.Parameter(torch.zeros(classes))

    def forward(self, x):
        """log p(x, c) for every class: (N, C). Not normalised over the classes."""
        z = (x.unsqueeze(1) - self.mean) / self.log_std.exp()
        log_density = (-0.5 * z**2 - self.log_std - 0.5 * math.log(2 * math.pi)).sum(-1)
        return log_density + F.log_softmax(self.prior, dim=0)


centres = 0.5 * torch.randn(3, 5)


def batch(n):
    y = torch.randint(3, (n,))
    return centres[y] + torch.tensor([0.05, 0.1, 0.15])[y].unsqueeze(1) * torch.randn(n, 5), y


model = ClassConditionalGaussian(5, 3)
optimizer = torch.optim.Adam(model.parameters(), lr=3e-2)
for step in range(200):
    x, y = batch(64)
    loss = F.nll_loss(model(x), y)  # minus the joint log-likelihood
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 40 == 0:
        print(step, loss.item())

with torch.no_grad():
    x, y = batch(1000)
    joint = model(x)
    accuracy = (joint.argmax(1) == y).float().mean().item()
print("accuracy", accuracy, "stds", model.log_std.exp().mean(1).tolist())
assert accuracy > 0.95
