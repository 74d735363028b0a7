"""Soft targets of every kind: label smoothing, mixup with soft labels, distillation from a frozen teacher, focal loss."""

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler

torch.set_num_threads(1)
torch.manual_seed(0)
np.random.seed(0)
digits = load_digits()
X = torch.tensor(digits.data / 16, dtype=torch.float32)
Y = torch.tensor(digits.target)
order = torch.randperm(len(X))
X, Y = X[order], Y[order]
# make class 0 rare in the training part
keep = (Y[:1400] != 0) | (torch.rand(1400) < 0.15)
train = TensorDataset(X[:1400][keep], Y[:1400][keep])
X_test, Y_test = X[1400:], Y[1400:]
counts = torch.bincount(train.tensors[1], minlength=10).float()
sampler = WeightedRandomSampler((1 / counts)[train.tensors[1]], num_samples=1000, replacement=True)
loader = DataLoader(train, batch_size=50, sampler=sampler)


def net(width):
    return nn.Sequential(nn.Linear(64, width), nn.ReLU(), nn.Dropout(0.2), nn.Linear(width, 10))


@torch.no_grad()
def accuracy(model):
    was = model.training
    model.eval()
    result = (model(X_test).argmax(1) == Y_test).float().mean().item()
    model.train(was)
    return result


# teacher with label smoothing and mixup
teacher = net(128)
optimizer = torch.optim.Adam(teacher.parameters(), lr=3e-3)
criterion = nn.CrossEntropyLoss(label_smoothing=0.05)
for epoch in range(4):
    teacher.train()
    for x, y in loader:
        lam = np.random.beta(0.3, 0.3)
        partner = torch.randperm(len(x))
        mixed = lam * x + (1 - lam) * x[partner]
        soft = lam * F.one_hot(y, 10).float() + (1 - lam) * F.one_hot(y[partner], 10).float()
        loss = criterion(teacher(mixed), soft)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print("teacher", epoch, loss.item(), accuracy(teacher))

# student
teacher.eval()
for p in teacher.parameters():
    p.requires_grad_(False)
student, T = net(40), 3.0
optimizer = torch.optim.Adam(student.parameters(), lr=5e-3)
for epoch in range(4):
    student.train()
    for x, y in loader:
        with torch.no_grad():
            target = F.softmax(teacher(x) / T, dim=1)
        logits = student(x)
        kd = F.kl_div(F.log_softmax(logits / T, dim=1), target, reduction="batchmean") * T * T
        loss = 0.7 * kd + 0.3 * F.cross_entropy(logits, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print("student", epoch, loss.item(), accuracy(student))

# a detector for the rare class with focal loss
detector = nn.Linear(64, 1)
optimizer = torch.optim.Adam(detector.parameters(), lr=0.02)
for epoch in range(4):
    for rows in torch.randperm(len(train)).split(50):
        x, y = train.tensors[0][rows], (train.tensors[1][rows] == 0).float()
        logit = detector(x).squeeze(1)
        bce = F.binary_cross_entropy_with_logits(logit, y, reduction="none")
        focal = ((1 - torch.exp(-bce)) ** 2 * bce).mean()
        optimizer.zero_grad()
        focal.backward()
        optimizer.step()
with torch.no_grad():
    recall = (detector(X_test[Y_test == 0]) > 0).float().mean().item()
print("recall of the rare digit", recall)
assert accuracy(student) > 0.8 and recall > 0.5
