"""Detector head trainer that can be interrupted: state goes to a file and back."""
import os
import tempfile

import torch
from torch import nn


class BaseTrainer:
    def __init__(self, seed=4):
        torch.manual_seed(seed)
        self.model = nn.Sequential(nn.Linear(16, 64), nn.Tanh(), nn.Linear(64, 4))
        self.optimizer = None
        self.start_epoch = 0

    def setup(self):
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=3e-3)

    def save(self, path, epoch):
        torch.save({"model": self.model.state_dict(), "optimizer": self.optimizer.state_dict(), "epoch": epoch}, path)

    def resume(self, path):
        state = torch.load(path)
        self.model.load_state_dict(state["model"])
        self.setup()
        self.optimizer.load_state_dict(state["optimizer"])
        self.start_epoch = state["epoch"] + 1

    def train(self, data, until):
        if self.optimizer is None:
            self.setup()
        boxes_in, boxes_out = data
        for epoch in range(self.start_epoch, until):
            for rows in torch.randperm(len(boxes_in)).split(32):
                loss = nn.functional.smooth_l1_loss(self.model(boxes_in[rows]), boxes_out[rows])
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
            print(f"epoch {epoch} loss {loss.item():.4f}")
        return until - 1


def make_data():
    g = torch.Generator().manual_seed(9)
    x = torch.randn(1024, 16, generator=g)
    w = torch.randn(16, 4, generator=g) * 0.4
    return x, torch.tanh(x @ w) + 0.05 * torch.randn(1024, 4, generator=g)


def main():
    data = make_data()
    path = os.path.join(tempfile.mkdtemp(), "last.pt")
    first = BaseTrainer()
    last = first.train(data, 5)
    first.save(path, last)
    second = BaseTrainer(seed=5)
    second.resume(path)
    second.train(data, 10)


main()
