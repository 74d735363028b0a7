"""Distil a wide digit classifier into a small one. The teacher is run once and its outputs are kept."""
import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch.utils.data import DataLoader, TensorDataset


def mlp(*sizes, drop=0.0):
    layers = []
    for a, b in zip(sizes[:-2], sizes[1:-1]):
        layers += [nn.Linear(a, b), nn.ReLU(), nn.Dropout(drop)]
    return nn.Sequential(*layers, nn.Linear(sizes[-2], sizes[-1]))


def load(seed):
    x, y = load_digits(return_X_y=True)
    xt, xv, yt, yv = train_test_split(x / 16.0, y, test_size=0.3, stratify=y, random_state=seed)
    f = lambda a: torch.tensor(a, dtype=torch.float32)
    return (f(xt), torch.tensor(yt)), (f(xv), torch.tensor(yv))


class Loaders:
    def __init__(self, train, valid, batch_size):
        self.train_set, self.valid_set, self.batch_size = TensorDataset(*train), TensorDataset(*valid), batch_size

    def train(self, shuffle=True):
        return DataLoader(self.train_set, batch_size=self.batch_size, shuffle=shuffle)

    def valid(self):
        return DataLoader(self.valid_set, batch_size=512)


@torch.no_grad()
def accuracy(model, loader):
    model.eval()
    hit = n = 0
    for x, y in loader:
        hit += (model(x).argmax(1) == y).sum().item()
        n += len(y)
    return hit / n


def fit_teacher(loaders, epochs):
    model = mlp(64, 256, 256, 10, drop=0.3)
    opt = torch.optim.Adam(model.parameters(), lr=1e-3)
    for _ in range(epochs):
        model.train()
        for x, y in loaders.train():
            opt.zero_grad()
            F.cross_entropy(model(x), y).backward()
            opt.step()
    print(f"teacher accuracy {accuracy(model, loaders.valid()):.4f}")
    return model


@torch.no_grad()
def collect_outputs(model, loader):
    model.eval()
    return torch.cat([model(x) for x, _ in loader])


def kd_loss(student, teacher, y, temperature, alpha):
    soft = F.kl_div(F.log_softmax(student / temperature, 1), F.softmax(teacher / temperature, 1),
                    reduction="batchmean") * temperature ** 2
    return alpha * soft + (1 - alpha) * F.cross_entropy(student, y)


def distil(loaders, targets, args):
    student = mlp(64, 24, 10)
    opt = torch.optim.Adam(student.parameters(), lr=args.lr)
    data = TensorDataset(*loaders.train_set.tensors, targets)
    train = DataLoader(data, batch_size=loaders.batch_size, shuffle=True)
    for epoch in range(args.epochs):
        student.train()
        total = 0.0
        for x, y, t in train:
            opt.zero_grad()
            loss = kd_loss(student(x), t, y, args.temperature, args.alpha)
            loss.backward()
            opt.step()
            total += loss.item() * len(y)
        if epoch % 5 == 4:
            print(f"epoch {epoch + 1:2d} loss {total / len(data):.4f} valid acc {accuracy(student, loaders.valid()):.4f}")
    return student


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--teacher-epochs", type=int, default=8)
    p.add_argument("--epochs", type=int, default=25)
    p.add_argument("--lr", type=float, default=3e-3)
    p.add_argument("--temperature", type=float, default=3.0)
    p.add_argument("--alpha", type=float, default=0.7)
    args = p.parse_args()
    torch.manual_seed(2)
    loaders = Loaders(*load(seed=2), batch_size=64)
    teacher = fit_teacher(loaders, args.teacher_epochs)
    targets = collect_outputs(teacher, loaders.train())
    distil(loaders, targets, args)


if __name__ == "__main__":
    main()
