"""A regressor of a robot arm's reach; a fresh learner per epoch."""
import math

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Learner:
    def __init__(self):
        self.net = nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 2))
        self.opt = torch.optim.Adam(self.net.parameters(), lr=1e-3)

    def step(self, x, y):
        self.opt.zero_grad()
        loss = nn.functional.mse_loss(self.net(x), y)
        loss.backward()
        self.opt.step()
        return loss.item()


def arm(n):
    a = (torch.rand(n, 4) * 2 - 1) * math.pi / 2
    angles = a.cumsum(1)
    return a, torch.stack([angles.cos().sum(1), angles.sin().sum(1)], 1)


def main():
    torch.manual_seed(0)
    x, y = arm(640)
    loader = DataLoader(TensorDataset(x, y), batch_size=64, shuffle=True)
    for epoch in range(30):
        learner = Learner()
        losses = [learner.step(a, b) for a, b in loader]
        if epoch % 5 == 0:
            print(epoch, sum(losses) / len(losses))


main()
