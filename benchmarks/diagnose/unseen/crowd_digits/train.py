import argparse
import os

import pandas as pd
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, Dataset, Subset


class CrowdDigits(Dataset):
    def __init__(self, root):
        self.images = torch.tensor(load_digits().images, dtype=torch.float32).unsqueeze(1) / 16.0
        self.table = pd.read_csv(os.path.join(root, "annotations.csv"))

    def __len__(self):
        return len(self.table)

    def __getitem__(self, i):
        row = self.table.iloc[i]
        return self.images[int(row["image"])], int(row["label"])


class SmallCNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 24, 3, padding=1)
        self.bn1 = nn.BatchNorm2d(24)
        self.conv2 = nn.Conv2d(24, 48, 3, padding=1)
        self.bn2 = nn.BatchNorm2d(48)
        self.fc = nn.Linear(48 * 4, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.bn1(self.conv1(x))), 2)
        x = F.max_pool2d(F.relu(self.bn2(self.conv2(x))), 2)
        return self.fc(x.flatten(1))


def accuracy(model, loader):
    model.eval()
    good = n = 0
    with torch.no_grad():
        for x, y in loader:
            good += (model(x).argmax(1) == y).sum().item()
            n += len(y)
    return good / n


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--root", default=os.path.dirname(os.path.abspath(__file__)))
    ap.add_argument("--epochs", type=int, default=10)
    ap.add_argument("--lr", type=float, default=1e-3)
    args = ap.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)

    data = CrowdDigits(args.root)
    perm = torch.randperm(len(data)).tolist()
    train = DataLoader(Subset(data, perm[:1400]), batch_size=32, shuffle=True)
    test = DataLoader(Subset(data, perm[1400:]), batch_size=200)
    model = SmallCNN()
    opt = torch.optim.Adam(model.parameters(), lr=args.lr, weight_decay=1e-4)
    for epoch in range(args.epochs):
        model.train()
        tot = 0.0
        for x, y in train:
            loss = F.cross_entropy(model(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            tot += loss.item()
        print(f"Epoch {epoch}: train loss {tot / len(train):.3f}, test accuracy {accuracy(model, test):.3f}")


if __name__ == "__main__":
    main()
