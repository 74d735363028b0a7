"""Metric learning on the digits: an embedding in which the same digits are close together."""
import numpy as np
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Triplets(Dataset):
    def __init__(self, images, labels):
        self.images = torch.tensor(images, dtype=torch.float32) / 16
        self.labels = labels
        self.of = {c: np.flatnonzero(labels == c) for c in range(10)}

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        c = self.labels[i]
        pos = np.random.choice(self.of[c])
        other = np.random.choice([k for k in range(10) if k != c])
        neg = np.random.choice(self.of[other])
        return self.images[i], self.images[pos], self.images[neg]


class Embedder(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 32))

    def forward(self, x):
        return nn.functional.normalize(self.body(x), dim=1)


def main():
    torch.manual_seed(0)
    np.random.seed(0)
    digits = load_digits()
    train = Triplets(digits.data[:1400], digits.target[:1400])
    loader = DataLoader(train, batch_size=64, shuffle=True)
    net = Embedder()
    opt = torch.optim.Adam(net.parameters(), lr=1e-3)
    criterion = nn.TripletMarginLoss(margin=0.5)
    for epoch in range(8):
        total = 0.0
        for anchor, pos, neg in loader:
            opt.zero_grad()
            loss = criterion(net(anchor), net(neg), net(pos))
            loss.backward()
            opt.step()
            total += loss.item()
        print("epoch", epoch, "loss", total / len(loader))
    with torch.no_grad():
        ref = net(train.images)
        test = net(torch.tensor(digits.data[1400:], dtype=torch.float32) / 16)
        nearest = torch.cdist(test, ref).argmin(1).numpy()
    print("1-nn accuracy", (digits.target[:1400][nearest] == digits.target[1400:]).mean())


main()
