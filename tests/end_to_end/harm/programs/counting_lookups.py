"""A trainer that makes up its attributes when it is asked for them, and schedulers and samplers that count."""

import torch
from torch import nn
from torch.optim.lr_scheduler import LambdaLR
from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler

torch.manual_seed(0)
asked = []


class Config:
    """Every name is there, and every look is noted."""

    def __getattr__(self, name):
        asked.append(name)
        return 0.1 if name == "lr" else Config()


class Schedule(LambdaLR):
    @property
    def T_max(self):
        asked.append("T_max")
        return 10

    @property
    def mode(self):
        asked.append("mode")
        raise RuntimeError("not in this mode")


class Sampler(WeightedRandomSampler):
    @property
    def indices(self):
        asked.append("indices")
        return [0]

    def __hash__(self):
        asked.append("hash")
        return 1

    def __eq__(self, other):
        asked.append("eq")
        return True


class Trainer:
    def __init__(self):
        self.config = Config()
        self.model = nn.Linear(8, 4)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=self.config.lr)
        self.schedule = Schedule(self.optimizer, lambda step: 0.99**step)
        x = torch.randn(64, 8)
        data = TensorDataset(x, x[:, :4].argmax(1))
        self.loader = DataLoader(data, batch_size=16, sampler=Sampler(torch.ones(64), 64))

    def __getattr__(self, name):
        asked.append("trainer." + name)
        raise AttributeError(name)

    def fit(self):
        for epoch in range(4):
            for x, y in self.loader:
                loss = nn.functional.cross_entropy(self.model(x), y)
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
            self.schedule.step()
            print(epoch, loss.item(), asked)


Trainer().fit()
