import argparse

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=8)
parser.add_argument("--batchsize", type=int, default=64)
parser.add_argument("--lr", type=float, default=0.01)
parser.add_argument("--momentum", type=float, default=0.9)
parser.add_argument("--seed", type=int, default=3)
args = parser.parse_args()
torch.manual_seed(3)
torch.set_num_threads(1)


def accelerometer_windows(n, length=64, seed=3):
    rng = np.random.default_rng(seed)
    label = rng.integers(0, 6, n)
    t = np.arange(length) / 20.0
    cadence = np.array([0.4, 0.9, 1.3, 1.8, 2.4, 3.1])[label] * rng.normal(1.0, 0.06, n)
    phase = rng.uniform(0, 2 * np.pi, (n, 3))
    wave = np.sin(2 * np.pi * cadence[:, None, None] * t + phase[:, :, None])
    gain = np.stack([0.6 + 0.1 * label, 1.1 - 0.1 * label, np.full(n, 0.7)], 1)
    return (gain[:, :, None] * wave + rng.normal(0, 0.5, wave.shape)).astype("float32"), label


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Sequential(nn.Conv1d(3, 24, 9), nn.ReLU(), nn.MaxPool1d(2))
        self.conv2 = nn.Sequential(nn.Conv1d(24, 32, 9), nn.ReLU(), nn.MaxPool1d(2))
        self.fc1 = nn.Sequential(nn.Linear(32 * 10, 96), nn.ReLU())
        self.fc2 = nn.Linear(96, 6)

    def forward(self, x):
        out = self.conv2(self.conv1(x))
        out = self.fc1(out.flatten(1))
        out = self.fc2(out)
        return out


def train(model, optimizer, train_loader, test_loader):
    criterion = nn.CrossEntropyLoss()
    for epoch in range(args.epochs):
        model.train()
        correct, total, total_loss = 0, 0, 0.0
        for sample, target in train_loader:
            output = model(sample)
            loss = criterion(output, target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total_loss += loss.item() * len(target)
            correct += (output.argmax(1) == target).sum().item()
            total += len(target)
        acc_test = valid(model, test_loader)
        print(f"epoch [{epoch + 1}/{args.epochs}] loss {total_loss / total:.4f} train acc {100 * correct / total:.2f}% test acc {acc_test:.2f}%")


def valid(model, test_loader):
    model.eval()
    with torch.no_grad():
        hits = [(model(s).argmax(1) == t).float() for s, t in test_loader]
    return 100 * torch.cat(hits).mean().item()


x, y = accelerometer_windows(2400, seed=args.seed)
xt, yt = accelerometer_windows(600, seed=args.seed + 1)
train_loader = DataLoader(TensorDataset(torch.from_numpy(x), torch.from_numpy(y)), batch_size=args.batchsize, shuffle=True)
test_loader = DataLoader(TensorDataset(torch.from_numpy(xt), torch.from_numpy(yt)), batch_size=200)
model = Network()
optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=args.momentum)
train(model, optimizer, train_loader, test_loader)
