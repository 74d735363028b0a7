"""Digit crops from two labs, one model."""
import numpy as np
import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from torch.utils.data import ConcatDataset, DataLoader, Dataset

NAMES_A = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
NAMES_B = sorted(NAMES_A)


class LabCrops(Dataset):
    def __init__(self, images, words, names):
        self.images = torch.tensor(images, dtype=torch.float32).unsqueeze(1) / 16.0
        lookup = {w: i for i, w in enumerate(names)}
        self.labels = torch.tensor([lookup[w] for w in words])

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        return self.images[i], self.labels[i]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
                                  nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.Flatten())
        self.out = nn.Linear(32 * 16, 10)

    def forward(self, x):
        return self.out(self.body(x))


def accuracy(net, loader):
    net.eval()
    ok = n = 0
    with torch.no_grad():
        for x, y in loader:
            ok += (net(x).argmax(1) == y).sum().item()
            n += len(y)
    return ok / n


def main():
    torch.manual_seed(1)
    torch.set_num_threads(1)
    d = load_digits()
    words = np.array(NAMES_A)[d.target]
    order = np.random.default_rng(1).permutation(len(words))
    a, b, test = order[:650], order[650:1100], order[1100:]
    lab_a = LabCrops(d.images[a], words[a], NAMES_A)
    lab_b = LabCrops(d.images[b], words[b], NAMES_A)
    held = LabCrops(d.images[test], words[test], NAMES_A)
    train = DataLoader(ConcatDataset([lab_a, lab_b]), batch_size=32, shuffle=True)
    net = Net()
    opt = torch.optim.Adam(net.parameters(), lr=1e-3)
    for epoch in range(12):
        net.train()
        total = 0.0
        for x, y in train:
            loss = nn.functional.cross_entropy(net(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
        if epoch % 3 == 2:
            print(f"epoch {epoch + 1}: loss {total / len(train):.3f}  test accuracy {accuracy(net, DataLoader(held, 128)):.3f}")


main()
