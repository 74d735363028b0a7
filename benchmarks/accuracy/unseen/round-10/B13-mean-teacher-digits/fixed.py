"""Semi-supervised mean teacher: few labelled digits, many unlabelled, EMA teacher is deployed."""
import copy

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split


def make_net():
    return nn.Sequential(
        nn.Linear(64, 96), nn.BatchNorm1d(96), nn.ReLU(),
        nn.Linear(96, 96), nn.BatchNorm1d(96), nn.ReLU(),
        nn.Linear(96, 10),
    )


class MeanTeacher:
    def __init__(self, student, decay=0.98):
        self.student = student
        self.decay = decay
        self.teacher = copy.deepcopy(student)
        self.teacher.requires_grad_(False)
        self.teacher.eval()

    @torch.no_grad()
    def update(self, step):
        alpha = min(1 - 1 / (step + 1), self.decay)
        for t, s in zip(self.teacher.parameters(), self.student.parameters()):
            t.mul_(alpha).add_(s, alpha=1 - alpha)
        for t, s in zip(self.teacher.buffers(), self.student.buffers()):
            t.copy_(s)

    @torch.no_grad()
    def predict(self, x):
        return self.teacher(x)


def perturb(x, gen, std=0.25):
    return x + std * torch.randn(x.shape, generator=gen)


def accuracy(net, x, y):
    was_training = net.training
    net.eval()
    with torch.no_grad():
        acc = (net(x).argmax(1) == y).float().mean().item()
    net.train(was_training)
    return acc


def main():
    torch.manual_seed(8)
    gen = torch.Generator().manual_seed(8)
    d = load_digits()
    tr, te = train_test_split(np.arange(len(d.target)), test_size=0.3, stratify=d.target, random_state=8)
    lab, unl = train_test_split(tr, test_size=0.85, stratify=d.target[tr], random_state=8)
    x = torch.tensor(d.data, dtype=torch.float32) / 4.0
    y = torch.tensor(d.target)

    student = make_net()
    mt = MeanTeacher(student)
    opt = torch.optim.Adam(student.parameters(), lr=2e-3)
    steps, ramp = 400, 150
    lab, unl = torch.tensor(lab), torch.tensor(unl)
    for step in range(1, steps + 1):
        student.train()
        li = lab[torch.randint(len(lab), (32,), generator=gen)]
        ui = unl[torch.randint(len(unl), (64,), generator=gen)]
        inputs = torch.cat([x[li], x[ui]])
        logits = student(perturb(inputs, gen))
        target = mt.predict(perturb(inputs, gen)).softmax(1)
        sup = F.cross_entropy(logits[:32], y[li])
        cons = F.mse_loss(logits.softmax(1), target) * 10
        weight = min(1.0, step / ramp)
        loss = sup + weight * cons
        opt.zero_grad()
        loss.backward()
        opt.step()
        mt.update(step)
        if step % 80 == 0:
            s, t = accuracy(student, x[te], y[te]), accuracy(mt.teacher, x[te], y[te])
            print(f"step {step}  sup {sup.item():.4f}  cons {cons.item():.4f}  student acc {s:.4f}  teacher acc {t:.4f}")


if __name__ == "__main__":
    main()
