"""DANN with a gradient reversal layer; source batches are all domain 0, target batches all domain 1. Then VAT on top."""

import torch
import torch.nn.functional as F
from torch import nn


class Reverse(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight):
        ctx.weight = weight
        return x.view_as(x)

    @staticmethod
    def backward(ctx, gradient):
        return -ctx.weight * gradient, None


class DANN(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Linear(6, 64), nn.BatchNorm1d(64), nn.ReLU())
        self.classifier = nn.Linear(64, 2)
        self.domain = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 2))

    def forward(self, x, weight=1.0):
        h = self.features(x)
        return self.classifier(h), self.domain(Reverse.apply(h, weight))


def domain_loss(logits, domain):
    return F.cross_entropy(logits, torch.full((len(logits),), domain, dtype=torch.long))


def virtual_adversarial(model, x, epsilon=0.5, xi=1e-3):
    with torch.no_grad():
        clean = F.softmax(model(x)[0], dim=1)
    direction = F.normalize(torch.randn_like(x), dim=1).requires_grad_()
    distance = F.kl_div(F.log_softmax(model(x + xi * direction)[0], dim=1), clean, reduction="batchmean")
    gradient = torch.autograd.grad(distance, direction)[0]
    attack = epsilon * F.normalize(gradient, dim=1)
    return F.kl_div(F.log_softmax(model(x + attack)[0], dim=1), clean, reduction="batchmean")


def source(n):
    x = torch.randn(n, 6)
    return x, (x[:, 0] + x[:, 1] > 0).long()


def target(n):
    x, y = source(n)
    return x + torch.tensor([0.0, 0.0, 3.0, -2.0, 0.0, 0.0]), y


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = DANN()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    steps = 160
    for step in range(steps):
        progress = step / steps
        weight = 2 / (1 + torch.exp(torch.tensor(-10 * progress)).item()) - 1
        xs, ys = source(48)
        xt, _ = target(48)
        class_s, domain_s = model(xs, weight)
        class_t, domain_t = model(xt, weight)
        loss = F.cross_entropy(class_s, ys) + domain_loss(domain_s, 0) + domain_loss(domain_t, 1)
        loss = loss + 0.1 * virtual_adversarial(model, xt)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 20 == 0:
            print(step, loss.item(), weight)
    model.eval()
    with torch.no_grad():
        x, y = target(1000)
        accuracy = (model(x)[0].argmax(1) == y).float().mean().item()
    print("target accuracy", accuracy)
    assert accuracy > 0.8


main()
