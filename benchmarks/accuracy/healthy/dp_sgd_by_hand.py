"""Differentially private SGD by hand: clip each sample's gradient, sum, add noise, step."""

import torch
from torch import nn
from torch.nn.utils import clip_grad_norm_

torch.set_num_threads(1)
torch.manual_seed(0)


class PrivateTrainer:
    def __init__(self, model, lr=0.5, max_norm=1.0, noise=0.4):
        self.model, self.max_norm, self.noise = model, max_norm, noise
        self.optimizer = torch.optim.SGD(model.parameters(), lr=lr)
        self.criterion = nn.CrossEntropyLoss()

    def step(self, x, y):
        params = [p for p in self.model.parameters() if p.requires_grad]
        summed = [torch.zeros_like(p) for p in params]
        total = 0.0
        for i in range(len(x)):
            self.optimizer.zero_grad()
            loss = self.criterion(self.model(x[i : i + 1]), y[i : i + 1])
            loss.backward()
            clip_grad_norm_(params, self.max_norm)
            for s, p in zip(summed, params):
                s += p.grad
            total += loss.item()
        for s, p in zip(summed, params):
            p.grad = (s + self.noise * self.max_norm * torch.randn_like(s)) / len(x)
        self.optimizer.step()
        return total / len(x)


def main():
    centres = 2 * torch.randn(3, 8)
    y = torch.randint(3, (900,))
    x = centres[y] + torch.randn(900, 8)
    x_test, y_test = x[600:], y[600:]
    model = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 3))
    trainer = PrivateTrainer(model)
    for step in range(60):
        rows = torch.randint(600, (24,))
        loss = trainer.step(x[rows], y[rows])
        if step % 10 == 0:
            print(step, loss)
    with torch.no_grad():
        accuracy = (model(x_test).argmax(1) == y_test).float().mean().item()
    print("accuracy", accuracy)
    assert accuracy > 0.85


if __name__ == "__main__":
    main()
