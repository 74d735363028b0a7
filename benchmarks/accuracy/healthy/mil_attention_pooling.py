"""Attention-based multiple-instance learning: one bag per step, softmax over the instances of the bag (dim 0)."""

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset


class Bags(Dataset):
    """Each bag holds 12 instances; it is positive when at least one is of the rare kind."""

    def __init__(self, n, seed, size=12, dim=16):
        g = torch.Generator().manual_seed(seed)
        self.items = []
        for i in range(n):
            bag = torch.randn(size, dim, generator=g)
            if i % 2:
                for j in torch.randperm(size, generator=g)[:2]:
                    bag[j, :5] += 2.5
            self.items.append((bag, torch.tensor([float(i % 2)])))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, index):
        return self.items[index]


class AttentionMIL(nn.Module):
    def __init__(self, dim=16, hidden=32):
        super().__init__()
        self.encode = nn.Sequential(nn.Linear(dim, hidden), nn.ReLU())
        self.attend = nn.Sequential(nn.Linear(hidden, 16), nn.Tanh(), nn.Linear(16, 1))
        self.classify = nn.Linear(hidden, 1)

    def forward(self, bag):
        h = self.encode(bag)  # (instances, hidden)
        weights = torch.softmax(self.attend(h), dim=0)  # (instances, 1)
        pooled = (weights * h).sum(0)
        return self.classify(pooled), weights


torch.set_num_threads(1)
torch.manual_seed(0)
train_bags = DataLoader(Bags(160, seed=1), batch_size=None, shuffle=True)
test_bags = DataLoader(Bags(100, seed=2), batch_size=None)
model = AttentionMIL()
criterion = nn.BCEWithLogitsLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(4):
    model.train()
    running = 0.0
    for bag, label in train_bags:
        optimizer.zero_grad()
        score, _ = model(bag)
        loss = criterion(score, label)
        loss.backward()
        optimizer.step()
        running += loss.item()
    model.eval()
    right = 0
    with torch.no_grad():
        for bag, label in test_bags:
            score, _ = model(bag)
            right += ((score > 0).float() == label).item()
    print(f"epoch {epoch} loss {running / len(train_bags)!r} accuracy {right / len(test_bags)}")
assert right / len(test_bags) > 0.85
