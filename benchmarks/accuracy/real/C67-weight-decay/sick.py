"""Leaf species from measurements, with the usual regularisation."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

SPECIES = 5


class LeafNet(nn.Module):
    def __init__(self, features=18, width=64):
        super().__init__()
        self.stem = nn.Linear(features, width)
        self.hidden = nn.Linear(width, width)
        self.out = nn.Linear(width, SPECIES)
        self.drop = nn.Dropout(0.1)

    def forward(self, x):
        x = torch.relu(self.stem(x))
        x = self.drop(torch.relu(self.hidden(x)))
        return self.out(x)


def leaves(n, generator):
    species = torch.randint(SPECIES, (n,), generator=generator)
    shape = torch.randn(SPECIES, 18, generator=torch.Generator().manual_seed(10)) * 1.5
    return TensorDataset(shape[species] + torch.randn(n, 18, generator=generator), species)


def main():
    torch.manual_seed(0)
    generator = torch.Generator().manual_seed(3)
    train = DataLoader(leaves(1600, generator), batch_size=32, shuffle=True)
    test = DataLoader(leaves(320, generator), batch_size=80)
    model = LeafNet()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=0.5)  # <- PM217
    criterion = nn.CrossEntropyLoss()
    for epoch in range(6):
        model.train()
        total = 0.0
        for x, y in train:
            optimizer.zero_grad()
            loss = criterion(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item()
        model.eval()
        with torch.no_grad():
            right = sum((model(x).argmax(1) == y).sum().item() for x, y in test)
        print(f"epoch {epoch} loss {total / len(train):.4f} accuracy {right / 320:.3f}")


if __name__ == "__main__":
    main()
