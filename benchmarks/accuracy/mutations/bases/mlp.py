"""A multilayer perceptron on scikit-learn's breast cancer table, with a validation set and the best weights kept."""

import copy

import torch
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)


class MLP(nn.Module):
    def __init__(self, inputs, hidden, classes):
        super().__init__()
        self.fc1 = nn.Linear(inputs, hidden)
        self.fc2 = nn.Linear(hidden, hidden)
        self.drop = nn.Dropout(0.2)
        self.head = nn.Linear(hidden, classes)

    def forward(self, x):
        h = torch.relu(self.fc1(x))
        h = torch.relu(self.fc2(h))
        h = self.drop(h)
        return self.head(h)


def make_loaders(batch_size=32):
    features, labels = load_breast_cancer(return_X_y=True)
    x = torch.tensor(features, dtype=torch.float32)
    y = torch.tensor(labels)
    train_ids, val_ids = train_test_split(range(len(x)), test_size=0.25, random_state=0, stratify=labels)
    mean, std = x[train_ids].mean(0), x[train_ids].std(0)
    x = (x - mean) / std
    train_set = TensorDataset(x[train_ids], y[train_ids])
    val_set = TensorDataset(x[val_ids], y[val_ids])
    return DataLoader(train_set, batch_size, shuffle=True), DataLoader(val_set, 64)


def train_epoch(model, loader, criterion, optimizer):
    model.train()
    total = 0.0
    for x, y in loader:
        optimizer.zero_grad()
        out = model(x)
        loss = criterion(out, y)
        loss.backward()
        optimizer.step()
        total += loss.item() * len(x)
    return total / len(loader.dataset)


def evaluate(model, loader):
    model.eval()
    right = 0
    with torch.no_grad():
        for x, y in loader:
            out = model(x)
            right += (out.argmax(1) == y).sum().item()
    return right / len(loader.dataset)


def main():
    train_loader, val_loader = make_loaders()
    model = MLP(30, 64, 2)
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    best, best_state = 0.0, None
    for epoch in range(20):
        loss = train_epoch(model, train_loader, criterion, optimizer)
        accuracy = evaluate(model, val_loader)
        if accuracy > best:
            best, best_state = accuracy, copy.deepcopy(model.state_dict())
        print(f"epoch {epoch}: loss {loss:.4f}, validation accuracy {accuracy:.3f}")
    model.load_state_dict(best_state)
    print(f"best validation accuracy {evaluate(model, val_loader):.3f}")


if __name__ == "__main__":
    main()
