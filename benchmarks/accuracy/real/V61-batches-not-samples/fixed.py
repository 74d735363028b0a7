"""Leaf classification; the evaluation helper returns the accuracy."""
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


class LeafNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 16, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1))
        self.fc = nn.Linear(16, 5)

    def forward(self, x):
        return self.fc(self.features(x).flatten(1))


def leaves(n):
    y = torch.randint(5, (n,))
    colour = torch.rand(5, 3, 1, 1, generator=torch.Generator().manual_seed(0)) * 2
    return TensorDataset(colour[y] + 0.6 * torch.randn(n, 3, 12, 12), y)


def evaluate(model, loader):
    model.eval()
    correct = 0
    with torch.no_grad():
        for x, y in loader:
            pred = model(x).argmax(dim=1)
            correct += (pred == y).sum().item()
    return correct / len(loader.dataset)


def main():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    train_loader = DataLoader(leaves(960), batch_size=32, shuffle=True)
    val_loader = DataLoader(leaves(320), batch_size=32)
    model = LeafNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    criterion = nn.CrossEntropyLoss()
    best = 0.0
    for epoch in range(6):
        model.train()
        for x, y in train_loader:
            optimizer.zero_grad()
            loss = criterion(model(x), y)
            loss.backward()
            optimizer.step()
        accuracy = evaluate(model, val_loader)
        best = max(best, accuracy)
        print(f"epoch {epoch} loss {loss.item():.3f} val accuracy {accuracy:.3f} best {best:.3f}")


if __name__ == "__main__":
    main()
