"""Bird calls, drawn in groups of two species each."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Sampler, TensorDataset

SPECIES = 5


class BySpecies(Sampler):
    def __init__(self, labels: torch.Tensor, size: int):
        self.groups = [torch.nonzero(labels == kind).squeeze(1) for kind in range(SPECIES)]
        self.size = size

    def __iter__(self):
        for _ in range(len(self)):
            first, second = torch.randperm(SPECIES)[:2].tolist()
            halves = [
                self.groups[kind][torch.randperm(len(self.groups[kind]))[: self.size // 2]] for kind in (first, second)
            ]
            yield torch.cat(halves).tolist()

    def __len__(self) -> int:
        return sum(-(-len(group) // self.size) for group in self.groups)


def main() -> None:
    torch.manual_seed(0)
    label = torch.randint(SPECIES, (600,))
    calls = torch.randn(SPECIES, 16)[label] + torch.randn(600, 16)
    loader = DataLoader(TensorDataset(calls, label), batch_sampler=BySpecies(label, 20))
    model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, SPECIES))
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(5):
        total = 0.0
        for x, y in loader:
            loss = F.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch} loss {total / len(loader):.4f}")


if __name__ == "__main__":
    main()
