"""Fraud detection; validation accuracy is printed after each epoch."""
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Transactions(Dataset):
    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        self.x = torch.randn(n, 9, generator=g)
        self.y = (self.x[:, 0] + self.x[:, 1] * self.x[:, 2] > 0.2).float()

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


class FraudNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(9, 48), nn.ReLU(), nn.Linear(48, 48), nn.ReLU(), nn.Linear(48, 1))

    def forward(self, x):
        return self.net(x)


def train_one_epoch(model, loader, optimizer, loss_fn):
    model.train()
    for x, y in loader:
        optimizer.zero_grad()
        loss = loss_fn(model(x), y.unsqueeze(1))
        loss.backward()
        optimizer.step()
    return loss.item()


@torch.no_grad()
def validate(model, loader):
    model.eval()
    accuracies = []
    for x, y in loader:
        predicted = (torch.sigmoid(model(x)) > 0.5).float()
        accuracies.append((predicted.squeeze(1) == y).float().mean().item())
    return sum(accuracies) / len(accuracies)


def main():
    torch.manual_seed(7)
    train, valid = DataLoader(Transactions(1600, 0), 32, shuffle=True), DataLoader(Transactions(400, 1), 50)
    model = FraudNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    for epoch in range(8):
        loss = train_one_epoch(model, train, optimizer, nn.BCEWithLogitsLoss())
        print(f"epoch {epoch} loss {loss:.3f} accuracy {validate(model, valid):.3f}")


if __name__ == "__main__":
    main()
