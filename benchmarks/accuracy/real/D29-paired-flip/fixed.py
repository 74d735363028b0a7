"""Lesion segmentation with random flips."""
import random
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

random.seed(0)
torch.manual_seed(0)


def hflip(t, p=0.5):
    return t.flip(-1) if random.random() < p else t


class Lesions(Dataset):
    def __init__(self, n, augment):
        g = torch.Generator().manual_seed(n)
        self.m = torch.zeros(n, 1, 24, 24)
        for i in range(n):
            a, b = torch.randint(0, 16, (2,), generator=g).tolist()
            self.m[i, 0, a:a + 6, b:b + 6] = 1
        self.x = self.m * 0.7 + 0.35 * torch.rand(n, 1, 24, 24, generator=g)
        self.augment = augment

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        x, m = self.x[i], self.m[i]
        if self.augment:
            if random.random() < 0.5:
                x, m = x.flip(-1), m.flip(-1)
        return x, m


net = nn.Sequential(nn.Conv2d(1, 12, 3, padding=1), nn.ReLU(), nn.Conv2d(12, 12, 3, padding=1), nn.ReLU(), nn.Conv2d(12, 1, 1))
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
crit = nn.BCEWithLogitsLoss()
train = DataLoader(Lesions(320, True), batch_size=16, shuffle=True)
val = DataLoader(Lesions(80, False), batch_size=16)
for epoch in range(5):
    net.train()
    for x, m in train:
        opt.zero_grad()
        loss = crit(net(x), m)
        loss.backward()
        opt.step()
    net.eval()
    inter = union = 0.0
    with torch.no_grad():
        for x, m in val:
            p = (net(x) > 0).float()
            inter, union = inter + (p * m).sum(), union + ((p + m) > 0).float().sum()
    print(epoch, loss.item(), (inter / union).item())
