"""Digits with SGD, by a small framework of one's own."""
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Config:
    lr = 0.02
    momentum = 0.9999
    batch_size = 32
    epochs = 6


class Engine:
    def __init__(self, model, config):
        self.model, self.config = model, config
        self.opt = torch.optim.SGD(model.parameters(), lr=config.lr, momentum=config.momentum)
        self.criterion = nn.CrossEntropyLoss()

    def run(self, loader):
        for epoch in range(self.config.epochs):
            for x, y in loader:
                loss = self.criterion(self.model(x), y)
                self.opt.zero_grad()
                loss.backward()
                self.opt.step()
            print(epoch, loss.item())


torch.manual_seed(0)
d = load_digits()
data = TensorDataset(torch.tensor(d.images, dtype=torch.float32)[:, None] / 16, torch.tensor(d.target))
model = nn.Sequential(nn.Conv2d(1, 16, 3), nn.ReLU(), nn.Flatten(), nn.Linear(16 * 36, 10))
Engine(model, Config).run(DataLoader(data, Config.batch_size, shuffle=True))
