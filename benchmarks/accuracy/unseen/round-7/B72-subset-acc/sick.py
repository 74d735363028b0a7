import argparse

import numpy as np
import torch
from sklearn.datasets import load_breast_cancer
from torch import nn, optim
from torch.utils.data import DataLoader, SubsetRandomSampler, TensorDataset

parser = argparse.ArgumentParser()
parser.add_argument("--valid_size", type=float, default=0.2)
parser.add_argument("--batch_size", type=int, default=32)
parser.add_argument("--epochs", type=int, default=20)
parser.add_argument("--seed", type=int, default=0)


def get_train_valid_loader(batch_size, valid_size, seed):
    X, y = load_breast_cancer(return_X_y=True)
    X = (X - X.mean(0)) / X.std(0)
    dataset = TensorDataset(torch.tensor(X, dtype=torch.float32), torch.tensor(y))
    indices = np.random.RandomState(seed).permutation(len(dataset))
    split = int(np.floor(valid_size * len(dataset)))
    train_idx, valid_idx = indices[split:], indices[:split]
    train_loader = DataLoader(dataset, batch_size=batch_size, sampler=SubsetRandomSampler(train_idx))
    valid_loader = DataLoader(dataset, batch_size=batch_size, sampler=SubsetRandomSampler(valid_idx))
    return train_loader, valid_loader


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(30, 32)
        self.drop = nn.Dropout(0.2)
        self.fc2 = nn.Linear(32, 2)

    def forward(self, x):
        return self.fc2(self.drop(torch.relu(self.fc1(x))))


def train(model, loader, optimizer, criterion):
    model.train()
    total, count = 0.0, 0
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        total += loss.item() * x.size(0)
        count += x.size(0)
    return total / count


def validate(model, loader, criterion):
    model.eval()
    loss_sum, correct, count = 0.0, 0, 0
    with torch.no_grad():
        for x, y in loader:
            out = model(x)
            loss_sum += criterion(out, y).item() * x.size(0)
            correct += out.argmax(1).eq(y).sum().item()
            count += x.size(0)
    return loss_sum / count, 100.0 * correct / len(loader.dataset)


def main():
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    train_loader, valid_loader = get_train_valid_loader(args.batch_size, args.valid_size, args.seed)
    model = Classifier()
    optimizer = optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    criterion = nn.CrossEntropyLoss()
    best = 0.0
    for epoch in range(args.epochs):
        tl = train(model, train_loader, optimizer, criterion)
        vl, acc = validate(model, valid_loader, criterion)
        best = max(best, acc)
        if epoch % 4 == 3:
            print(f"Epoch {epoch + 1}: train loss {tl:.4f}  valid loss {vl:.4f}  valid acc {acc:.2f}%")
    print(f"best valid accuracy {best:.2f}%")


if __name__ == "__main__":
    main()
