"""Rare failures of pumps. The data is split first; then the failures of the training part are drawn several times."""

import torch
import torch.nn.functional as F
from sklearn.datasets import make_classification
from sklearn.model_selection import train_test_split
from sklearn.utils import resample
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def balanced(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    few = torch.tensor(resample(x[y == 1].numpy(), n_samples=int((y == 0).sum()), random_state=0))
    labels = torch.cat([torch.zeros(int((y == 0).sum())), torch.ones(len(few))]).long()
    return torch.cat([x[y == 0], few]), labels


def main() -> None:
    torch.manual_seed(0)
    torch.set_num_threads(1)
    x, y = make_classification(1200, 16, n_informative=6, weights=[0.9], class_sep=0.8, random_state=0)
    parts = train_test_split(torch.tensor(x).float(), torch.tensor(y), test_size=300, stratify=y, random_state=0)
    x_train, x_val, y_train, y_val = parts
    train_loader = DataLoader(TensorDataset(*balanced(x_train, y_train)), batch_size=64, shuffle=True)
    val_loader = DataLoader(TensorDataset(x_val, y_val), batch_size=150)
    model = nn.Sequential(nn.Linear(16, 48), nn.ReLU(), nn.Linear(48, 2))
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(6):
        model.train()
        for x_batch, y_batch in train_loader:
            loss = F.cross_entropy(model(x_batch), y_batch)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            right = sum((model(x).argmax(1) == y).sum().item() for x, y in val_loader)
        print(f"epoch {epoch} loss {loss.item():.3f} validation accuracy {right / len(x_val):.3f}")


if __name__ == "__main__":
    main()
