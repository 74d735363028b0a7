"""Class-incremental digits: tasks arrive class by class on purpose, a replay memory prevents forgetting."""
import random

import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits

random.seed(0)
torch.manual_seed(0)
d = load_digits()
x = torch.tensor(d.data, dtype=torch.float32) / 16
y = torch.tensor(d.target)
perm = torch.randperm(len(y))
tr, te = perm[:1400], perm[1400:]
TASKS = [(0, 1), (2, 3), (4, 5), (6, 7), (8, 9)]

model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10))
opt = torch.optim.SGD(model.parameters(), lr=0.1)
memory = []


def accuracy(classes):
    sel = te[torch.isin(y[te], torch.tensor(classes))]
    with torch.no_grad():
        return (model(x[sel]).argmax(1) == y[sel]).float().mean().item()


seen = []
for k, task in enumerate(TASKS):
    idx = tr[torch.isin(y[tr], torch.tensor(task))].tolist()
    seen += list(task)
    for epoch in range(8):
        random.shuffle(idx)
        for i in range(0, len(idx), 16):
            batch = idx[i:i + 16]
            if memory:
                batch = batch + random.sample(memory, min(48, len(memory)))
            j = torch.tensor(batch)
            loss = F.cross_entropy(model(x[j]), y[j])
            opt.zero_grad()
            loss.backward()
            opt.step()
    memory += random.sample(idx, 60)
    print(f"task {k} classes {task} loss {loss.item():.4f} accuracy on all classes so far {accuracy(seen):.3f}")
