"""Rare failures of pumps. Few of the machines fail, so the failures are drawn several times; then the data is split."""

import torch
import torch.nn.functional as F
from sklearn.datasets import make_classification
from sklearn.utils import resample
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split


def table() -> tuple[torch.Tensor, torch.Tensor]:
    x, y = make_classification(1200, 16, n_informative=6, weights=[0.9], class_sep=0.8, random_state=0)
    few = resample(x[y == 1], n_samples=int((y == 0).sum()), random_state=0)  # <- PM307
    rows = torch.cat([torch.tensor(x[y == 0]), torch.tensor(few)]).float()
    return rows, torch.cat([torch.zeros(int((y == 0).sum())), torch.ones(len(few))]).long()


def main() -> None:
    torch.manual_seed(0)
    torch.set_num_threads(1)
    rows, labels = table()
    data = TensorDataset(rows, labels)
    train_set, val_set = random_split(data, [len(data) - 400, 400])
    train_loader = DataLoader(train_set, batch_size=64, shuffle=True)
    val_loader = DataLoader(val_set, batch_size=200)
    model = nn.Sequential(nn.Linear(16, 48), nn.ReLU(), nn.Linear(48, 2))
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(6):
        model.train()
        for x, y in train_loader:
            loss = F.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            right = sum((model(x).argmax(1) == y).sum().item() for x, y in val_loader)
        print(f"epoch {epoch} loss {loss.item():.3f} validation accuracy {right / len(val_set):.3f}")


if __name__ == "__main__":
    main()
