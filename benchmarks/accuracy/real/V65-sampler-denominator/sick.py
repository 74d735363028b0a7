"""Hold-out by SubsetRandomSampler, as in the old CIFAR tutorials."""
import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, SubsetRandomSampler, TensorDataset


def loaders(dataset, valid_size=0.2, batch=40):
    order = np.random.permutation(len(dataset))
    cut = int(valid_size * len(dataset))
    valid = DataLoader(dataset, batch_size=batch, sampler=SubsetRandomSampler(order[:cut]))
    train = DataLoader(dataset, batch_size=batch, sampler=SubsetRandomSampler(order[cut:]))
    return train, valid


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(25, 64), nn.ReLU(), nn.Dropout(0.2), nn.Linear(64, 6))

    def forward(self, x):
        return self.layers(x)


def validate(model, loader, criterion):
    model.eval()
    loss = correct = 0.0
    with torch.no_grad():
        for data, target in loader:
            output = model(data)
            loss += criterion(output, target).item() * data.size(0)
            correct += (output.argmax(1) == target).sum().item()
    size = len(loader.dataset)  # <- PM616
    return loss / size, correct / size


if __name__ == "__main__":
    np.random.seed(1)
    torch.manual_seed(1)
    target = torch.randint(6, (2000,))
    data = torch.randn(6, 25)[target] + 0.9 * torch.randn(2000, 25)
    train_loader, valid_loader = loaders(TensorDataset(data, target))
    model, criterion = Net(), nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    for epoch in range(8):
        model.train()
        for x, y in train_loader:
            optimizer.zero_grad()
            loss = criterion(model(x), y)
            loss.backward()
            optimizer.step()
        val_loss, val_acc = validate(model, valid_loader, criterion)
        print(f"Epoch {epoch}: train {loss.item():.3f} valid {val_loss:.3f} accuracy {val_acc:.3f}")
