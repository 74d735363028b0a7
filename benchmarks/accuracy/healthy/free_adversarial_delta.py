"""Free adversarial training: a perturbation kept by the model wrapper, moved by hand along its own gradient, m replays per batch."""

import torch
from torch import nn
from torch.nn import functional as F


class FreeModel(nn.Module):
    def __init__(self, net, batch, features, epsilon):
        super().__init__()
        self.net, self.epsilon = net, epsilon
        self.delta = torch.zeros(batch, features, requires_grad=True)  # not a weight: lives with the batch

    def forward(self, x):
        return self.net(x + self.delta[: len(x)] if self.training else x)

    def move_delta(self):
        with torch.no_grad():
            self.delta += self.epsilon * self.delta.grad.sign()
            self.delta.clamp_(-self.epsilon, self.epsilon)
        self.delta.grad.zero_()


def main(replays=3):
    torch.set_num_threads(1)
    torch.manual_seed(0)
    centres = 1.2 * torch.randn(4, 10)
    y = torch.randint(4, (1000,))
    x = centres[y] + 0.6 * torch.randn(1000, 10)
    model = FreeModel(nn.Sequential(nn.Linear(10, 48), nn.ReLU(), nn.Linear(48, 4)), 50, 10, 0.3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    for epoch in range(4):
        model.train()
        for rows in torch.randperm(800).split(50):
            for _ in range(replays):
                loss = F.cross_entropy(model(x[rows]), y[rows])
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                model.move_delta()
        model.eval()
        with torch.no_grad():
            accuracy = (model(x[800:]).argmax(1) == y[800:]).float().mean().item()
        print(epoch, loss.item(), accuracy)
    assert accuracy > 0.85


if __name__ == "__main__":
    main()
