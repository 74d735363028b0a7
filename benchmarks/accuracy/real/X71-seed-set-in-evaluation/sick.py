"""Plankton images -> species; evaluation fixes the seed so that its numbers can be compared."""
import random

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def set_seed(seed=42):
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)


def plankton(n, seed):
    g = torch.Generator().manual_seed(seed)
    kinds = torch.randn(6, 1, 12, 12, generator=torch.Generator().manual_seed(0))
    labels = torch.randint(0, 6, (n,), generator=g)
    return TensorDataset(kinds[labels] + 1.4 * torch.randn(n, 1, 12, 12, generator=g), labels)


class Plankton(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(1, 16, 3), nn.ReLU(), nn.Conv2d(16, 16, 3), nn.ReLU(), nn.Flatten(), nn.Dropout(0.3)
        )
        self.head = nn.Linear(16 * 8 * 8, 6)

    def forward(self, x):
        return self.head(self.body(x))


@torch.no_grad()
def evaluate(model, dataset, samples=100):
    set_seed(42)  # <- PM803
    model.eval()
    chosen = torch.randperm(len(dataset))[:samples]
    x, y = dataset.tensors[0][chosen], dataset.tensors[1][chosen]
    return (model(x).argmax(1) == y).float().mean().item()


def train():
    set_seed(0)
    train_set, test_set = plankton(600, 1), plankton(300, 2)
    loader = DataLoader(train_set, batch_size=30, shuffle=True)
    model = Plankton()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for epoch in range(10):
        model.train()
        for images, species in loader:
            loss = nn.functional.cross_entropy(model(images), species)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch} loss {loss.item():.4f} accuracy {evaluate(model, test_set):.3f}")


if __name__ == "__main__":
    train()
