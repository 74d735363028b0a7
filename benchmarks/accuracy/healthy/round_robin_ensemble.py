"""A population of models trained in turns through the same lines; the worst copies the best now and then."""

import copy

import torch
from torch import nn
from torch.nn import functional as F

torch.set_num_threads(1)
torch.manual_seed(0)


class Member:
    def __init__(self, lr):
        self.model = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 1))
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=lr, momentum=0.9)
        self.score = float("inf")

    def learn(self, x, y):
        loss = F.mse_loss(self.model(x), y)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def exploit(self, other):
        self.model.load_state_dict(other.model.state_dict())
        self.optimizer.load_state_dict(copy.deepcopy(other.optimizer.state_dict()))
        for group in self.optimizer.param_groups:
            group["lr"] = other.optimizer.param_groups[0]["lr"] * 0.8


def batch(n):
    x = torch.randn(n, 6)
    return x, (x[:, :1] * x[:, 1:2]).tanh() + 0.3 * x[:, 2:3]


population = [Member(lr) for lr in (0.1, 0.03, 0.01, 0.001)]
x_val, y_val = batch(500)
for step in range(240):
    for member in population:
        loss = member.learn(*batch(32))
    if step % 60 == 59:
        for member in population:
            with torch.no_grad():
                member.score = F.mse_loss(member.model(x_val), y_val).item()
        population.sort(key=lambda member: member.score)
        print(step, [round(member.score, 6) for member in population], loss)
        population[-1].exploit(population[0])
prediction = torch.stack([member.model(x_val) for member in population]).mean(0).detach()
error = F.mse_loss(prediction, y_val).item() / y_val.var().item()
print("ensemble", error)
assert error < 0.4
