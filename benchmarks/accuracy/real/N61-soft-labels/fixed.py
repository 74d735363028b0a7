"""Crowd-sourced labels: several annotators per picture, train on their distribution."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

CLASSES = 6


def soft_cross_entropy(logits, target):
    log_prob = F.log_softmax(logits, dim=-1)
    return -(target * log_prob).sum(-1).mean()


class Classifier(nn.Module):
    def __init__(self, width=96):
        super().__init__()
        self.fc1 = nn.Linear(16, width)
        self.fc2 = nn.Linear(width, width)
        self.fc3 = nn.Linear(width, CLASSES)

    def forward(self, x):
        return self.fc3(F.relu(self.fc2(F.relu(self.fc1(x)))))


def crowd(n):
    truth = torch.randint(CLASSES, (n,))
    centres = 3 * torch.randn(CLASSES, 16, generator=torch.Generator().manual_seed(4))
    x = centres[truth] + torch.randn(n, 16)
    votes = F.one_hot(truth, CLASSES).float().repeat(5, 1, 1)
    flip = torch.rand(5, n) < 0.04
    votes[flip] = F.one_hot(torch.randint(CLASSES, (int(flip.sum()),)), CLASSES).float()
    return TensorDataset(x, votes.mean(0))


torch.manual_seed(0)
loader = DataLoader(crowd(2000), batch_size=32, shuffle=True)
model = Classifier()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.95)
for epoch in range(8):
    total = 0.0
    for x, target in loader:
        loss = soft_cross_entropy(model(x * 4), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    print(epoch, total / len(loader))
