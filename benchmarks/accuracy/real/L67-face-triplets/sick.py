"""Metric learning for identities with an own triplet loss."""
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset

PEOPLE = 12


class Triplets(Dataset):
    def __init__(self, length, seed):
        g = torch.Generator().manual_seed(seed)
        centres = torch.randn(PEOPLE, 24, generator=torch.Generator().manual_seed(99))
        self.anchor_id = torch.randint(PEOPLE, (length,), generator=g)
        shift = torch.randint(1, PEOPLE, (length,), generator=g)
        noise = torch.randn(3, length, 24, generator=g) * 0.8
        self.a = centres[self.anchor_id] + noise[0]
        self.p = centres[self.anchor_id] + noise[1]
        self.n = centres[(self.anchor_id + shift) % PEOPLE] + noise[2]

    def __len__(self):
        return len(self.anchor_id)

    def __getitem__(self, i):
        return self.a[i], self.p[i], self.n[i]


class Embedder(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(24, 64), nn.ReLU(), nn.Linear(64, 16))

    def forward(self, x):
        return F.normalize(self.layers(x), dim=-1)


class TripletLoss(nn.Module):
    def __init__(self, margin=0.5):
        super().__init__()
        self.margin = margin

    def forward(self, anchor, positive, negative):
        d_pos = (anchor - positive).pow(2).sum(1)
        d_neg = (anchor - negative).pow(2).sum(1)
        return F.relu(d_neg - d_pos + self.margin).mean()  # <- PM516


def ranking_accuracy(model, loader):
    model.eval()
    right = total = 0
    with torch.no_grad():
        for a, p, n in loader:
            a, p, n = model(a), model(p), model(n)
            right += ((a - p).norm(dim=1) < (a - n).norm(dim=1)).sum().item()
            total += len(a)
    return right / total


torch.manual_seed(0)
train, test = DataLoader(Triplets(2000, 1), 50, shuffle=True), DataLoader(Triplets(400, 2), 100)
net, criterion = Embedder(), TripletLoss()
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for epoch in range(8):
    net.train()
    for a, p, n in train:
        opt.zero_grad()
        loss = criterion(net(a), net(p), net(n))
        loss.backward()
        opt.step()
    print(f"{epoch} loss {loss.item():.3f} positives closer {ranking_accuracy(net, test):.3f}")
