"""Wine cultivars: the accuracy on held-out bottles beside that on some of the training bottles."""

import torch
import torch.nn.functional as F
from sklearn.datasets import load_wine
from torch import nn
from torch.utils.data import DataLoader, Subset, TensorDataset


def bottles(known: list[int]) -> TensorDataset:
    wine = load_wine()
    mean, std = wine.data[known].mean(0), wine.data[known].std(0)
    return TensorDataset(torch.tensor((wine.data - mean) / std, dtype=torch.float32), torch.tensor(wine.target))


def main() -> None:
    torch.manual_seed(0)
    order = torch.randperm(178).tolist()
    held_out = len(order) // 5
    dataset = bottles(order[:-held_out])
    train_loader = DataLoader(Subset(dataset, order[:-held_out]), batch_size=16, shuffle=True)
    val_loader = DataLoader(Subset(dataset, order[-held_out:]), batch_size=35)
    train_eval_loader = DataLoader(Subset(dataset, order[:held_out]), batch_size=35)
    model = nn.Sequential(nn.Linear(13, 24), nn.ReLU(), nn.Linear(24, 3))
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(12):
        model.train()
        for x, y in train_loader:
            loss = F.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            hits, known = (
                sum((model(x).argmax(1) == y).sum().item() for x, y in loader)
                for loader in (val_loader, train_eval_loader)
            )
        print(f"epoch {epoch} held-out accuracy {hits / held_out:.3f}, of known bottles {known / held_out:.3f}")


if __name__ == "__main__":
    main()
