"""Re-use an autoencoder's encoder for classification."""
import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class DigitNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(64, 48)
        self.fc2 = nn.Linear(48, 12)
        self.head = nn.Linear(12, 64)

    def features(self, x):
        return torch.relu(self.fc2(torch.relu(self.fc1(x))))

    def forward(self, x):
        return self.head(self.features(x))


def load():
    digits = load_digits()
    x = torch.tensor(digits.data, dtype=torch.float32) / 16
    y = torch.tensor(digits.target)
    perm = torch.randperm(len(x), generator=torch.Generator().manual_seed(1))
    x, y = x[perm], y[perm]
    mean, std = x[:1300].mean(), x[:1300].std()
    x = (x - mean) / std
    return TensorDataset(x[:1300], y[:1300]), TensorDataset(x[1300:], y[1300:])


def pretrain(model, loader, epochs=6):
    opt = torch.optim.Adam(model.parameters(), lr=2e-3)
    for epoch in range(epochs):
        model.train()
        total = 0.0
        for x, _ in loader:
            loss = F.mse_loss(model(x), x)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
    print(f"reconstruction mse after pretraining {total / len(loader):.4f}")


def classify(model, train_loader, val_loader, epochs=14, lr=1.5e-3):
    optimizer = torch.optim.Adam([
        {"params": [*model.fc1.parameters(), *model.fc2.parameters()], "lr": lr / 10},
        {"params": model.head.parameters(), "lr": lr * 10},
    ])
    model.head = nn.Linear(12, 10)
    for epoch in range(epochs):
        model.train()
        total = 0.0
        for x, y in train_loader:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item()
        model.eval()
        with torch.no_grad():
            hits = sum((model(x).argmax(1) == y).sum().item() for x, y in val_loader)
        print(f"epoch {epoch + 1:2d} ce {total / len(train_loader):.4f} val acc {hits / len(val_loader.dataset):.3f}")


torch.manual_seed(12)
train_set, val_set = load()
train_loader = DataLoader(train_set, batch_size=32, shuffle=True)
val_loader = DataLoader(val_set, batch_size=128)
net = DigitNet()
pretrain(net, train_loader)
classify(net, train_loader, val_loader)
