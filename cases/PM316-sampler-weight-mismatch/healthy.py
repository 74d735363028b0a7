"""Defect detection on a conveyor belt: one part in ten is broken, so broken ones are drawn more often, in short epochs."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler


def parts(n: int) -> TensorDataset:
    broken = (torch.rand(n) < 0.1).long()
    x = torch.randn(n, 16)
    x[broken == 1, :3] += 1.5
    return TensorDataset(x, broken)


def balanced(labels: torch.Tensor) -> WeightedRandomSampler:
    class_weights = 1.0 / torch.bincount(labels).float()
    return WeightedRandomSampler(class_weights[labels], num_samples=len(labels) // 2)


def main() -> None:
    torch.manual_seed(0)
    train_set, val_set = parts(800), parts(300)
    train_loader = DataLoader(train_set, batch_size=40, sampler=balanced(train_set.tensors[1]))
    val_x, val_y = val_set.tensors
    model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 2))
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(6):
        for x, y in train_loader:
            loss = F.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        with torch.no_grad():
            found = model(val_x).argmax(1)[val_y == 1].float().mean().item()
        print(f"epoch {epoch} loss {loss.item():.4f} recall {found:.3f}")


if __name__ == "__main__":
    main()
