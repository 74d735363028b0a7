"""Mean teacher: the teacher's weights follow the student's, the teacher too runs with dropout (as in the paper)."""

import copy

import numpy as np
import torch
from sklearn.datasets import make_moons
from torch import nn
from torch.nn import functional as F

torch.set_num_threads(1)
torch.manual_seed(0)
np.random.seed(0)


def network():
    return nn.Sequential(nn.Linear(2, 64), nn.ReLU(), nn.Dropout(0.1), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2))


def update_ema(student, teacher, step, alpha=0.97):
    alpha = min(1 - 1 / (step + 1), alpha)
    for s, t in zip(student.parameters(), teacher.parameters()):
        t.data.mul_(alpha).add_(s.data, alpha=1 - alpha)


def rampup(step, length):
    return float(np.exp(-5 * (1 - min(step / length, 1)) ** 2))


points, labels = make_moons(1200, noise=0.1, random_state=0)
points, labels = torch.tensor(points, dtype=torch.float32), torch.tensor(labels)
known = torch.randperm(1000)[:30]
student = network()
teacher = copy.deepcopy(student)
for parameter in teacher.parameters():
    parameter.detach_()
optimizer = torch.optim.Adam(student.parameters(), lr=3e-3)

for step in range(350):
    rows = known[torch.randint(len(known), (16,))]
    free = torch.randint(1000, (48,))
    inputs = points[torch.cat([rows, free])]
    noise = lambda: 0.05 * torch.randn_like(inputs)
    student_logits = student(inputs + noise())
    with torch.no_grad():
        teacher_logits = teacher(inputs + noise())
    class_loss = F.cross_entropy(student_logits[:16], labels[rows])
    consistency = F.mse_loss(student_logits.softmax(1), teacher_logits.softmax(1))
    loss = class_loss + 5 * rampup(step, 150) * consistency
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    update_ema(student, teacher, step)
    if step % 50 == 0:
        print(step, loss.item(), class_loss.item(), consistency.item())

teacher.eval()
student.eval()
with torch.no_grad():
    accuracy = (teacher(points[1000:]).argmax(1) == labels[1000:]).float().mean().item()
print("teacher", accuracy, "student", (student(points[1000:]).argmax(1) == labels[1000:]).float().mean().item())
assert accuracy > 0.93
