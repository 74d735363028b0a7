"""Mean teacher for semi-supervised classification; the teacher is what gets reported."""
import copy

import torch
import torch.nn as nn
import torch.nn.functional as F


def network():
    return nn.Sequential(nn.Linear(16, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Dropout(0.3), nn.Linear(64, 64), nn.ReLU(), nn.Dropout(0.3), nn.Linear(64, 4))


class MeanTeacher:
    def __init__(self, decay=0.98):
        self.student = network()
        self.teacher = copy.deepcopy(self.student)
        for p in self.teacher.parameters():
            p.requires_grad_(False)
        self.decay = decay
        self.optimizer = torch.optim.Adam(self.student.parameters(), lr=2e-3)

    @torch.no_grad()
    def follow(self):
        for t, s in zip(self.teacher.parameters(), self.student.parameters()):
            t.lerp_(s, 1 - self.decay)
        for t, s in zip(self.teacher.buffers(), self.student.buffers()):
            t.copy_(s)

    def step(self, x, y, extra):
        self.student.train()
        self.teacher.train()
        with torch.no_grad():
            wanted = F.softmax(self.teacher(extra + 0.1 * torch.randn_like(extra)), 1)
        guess = F.softmax(self.student(extra + 0.1 * torch.randn_like(extra)), 1)
        loss = F.cross_entropy(self.student(x), y) + F.mse_loss(guess, wanted)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.follow()
        return loss.item()

    def evaluate(self, x, y):
        self.student.eval()
        with torch.no_grad():
            out = self.teacher(x)  # <- PM612
        return F.cross_entropy(out, y).item(), (out.argmax(1) == y).float().mean().item()


def main():
    torch.manual_seed(0)
    centres = torch.randn(4, 16)
    y = torch.randint(0, 4, (1600,))
    x = centres[y] + 1.1 * torch.randn(1600, 16)
    trainer = MeanTeacher()
    for epoch in range(12):
        for rows in torch.randperm(200).split(20):
            extra = x[200 + torch.randint(0, 1100, (40,))]
            loss = trainer.step(x[rows], y[rows], extra)
        print(epoch, round(loss, 3), "teacher loss %.3f accuracy %.3f" % trainer.evaluate(x[1300:], y[1300:]))


main()
