"""Reuse a wine classifier for a two-class problem by swapping its last layer."""
import torch
import torch.nn as nn
from sklearn.datasets import load_breast_cancer, make_classification
from sklearn.preprocessing import StandardScaler
from torch.utils.data import DataLoader, TensorDataset


class TabularNet(nn.Module):
    def __init__(self, n_features, n_classes):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(n_features, 64), nn.ReLU(), nn.Linear(64, 32), nn.ReLU())
        self.classifier = nn.Linear(32, n_classes)

    def forward(self, x):
        return self.classifier(self.trunk(x))


def tensors(X, y):
    X = StandardScaler().fit_transform(X)
    return torch.tensor(X, dtype=torch.float32), torch.tensor(y)


def train(model, optimizer, x, y, epochs, tag):
    loader = DataLoader(TensorDataset(x, y), batch_size=32, shuffle=True)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(epochs):
        model.train()
        s = 0.0
        for xb, yb in loader:
            optimizer.zero_grad()
            loss = criterion(model(xb), yb)
            loss.backward()
            optimizer.step()
            s += loss.item()
        if (epoch + 1) % 5 == 0:
            print(f"{tag} epoch {epoch + 1}: loss {s / len(loader):.4f}")


def main():
    torch.manual_seed(0)
    Xs, ys = make_classification(n_samples=1500, n_features=30, n_informative=12, n_classes=6, random_state=0)
    x, y = tensors(Xs, ys)
    model = TabularNet(30, 6)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    train(model, optimizer, x, y, 10, "source")

    Xb, yb = load_breast_cancer(return_X_y=True)
    x, y = tensors(Xb, yb)
    perm = torch.randperm(len(y))
    tr, te = perm[:400], perm[400:]
    for p in model.trunk.parameters():
        p.requires_grad = False
    optimizer = torch.optim.Adam(model.classifier.parameters(), lr=5e-3)
    model.classifier = nn.Linear(32, 2)
    train(model, optimizer, x[tr], y[tr], 20, "target")
    model.eval()
    with torch.no_grad():
        acc = (model(x[te]).argmax(1) == y[te]).float().mean().item()
    print(f"target accuracy {acc:.3f}")


if __name__ == "__main__":
    main()
