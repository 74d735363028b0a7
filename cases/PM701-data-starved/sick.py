"""Classify leaf scans that lie on a network share."""

import time

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset

SPECIES, SIZE = 4, 12


class NetworkShare:
    """Stands for a mounted share: every read takes a few milliseconds."""

    def __init__(self, files: int, seed: int):
        generator = torch.Generator().manual_seed(seed)
        self.species = torch.randint(SPECIES, (files,), generator=generator)
        axis = torch.linspace(0, 3, SIZE)
        veins = torch.stack([torch.sin((k + 1) * axis[:, None] + (4 - k) * axis[None, :]) for k in range(SPECIES)])
        self.scans = veins[self.species] + 0.8 * torch.randn(files, SIZE, SIZE, generator=generator)

    def read(self, index: int) -> tuple[Tensor, int]:
        time.sleep(0.003)
        return self.scans[index], int(self.species[index])


class LeafDataset(Dataset):
    def __init__(self, share: NetworkShare):
        self.share = share

    def __len__(self) -> int:
        return len(self.share.species)

    def __getitem__(self, index: int) -> tuple[Tensor, int]:
        scan, species = self.share.read(index)
        return scan.unsqueeze(0), species


class LeafNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 8, 3, stride=2, padding=1), nn.ReLU(), nn.Conv2d(8, 16, 3, stride=2, padding=1), nn.ReLU()
        )
        self.classifier = nn.Linear(16 * 9, SPECIES)

    def forward(self, scans: Tensor) -> Tensor:
        return self.classifier(self.features(scans).flatten(1))


def main() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    train_set, val_set = LeafDataset(NetworkShare(320, seed=0)), LeafDataset(NetworkShare(60, seed=1))
    train_loader = DataLoader(train_set, batch_size=16, shuffle=True)  # <- PM701
    val_loader = DataLoader(val_set, batch_size=60)
    model = LeafNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(1, 4):
        start = time.perf_counter()
        model.train()
        total = 0.0
        for scans, species in train_loader:
            loss = F.cross_entropy(model(scans), species)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        seconds = time.perf_counter() - start
        model.eval()
        with torch.no_grad():
            hits = sum((model(scans).argmax(dim=1) == species).sum().item() for scans, species in val_loader)
        print(
            f"epoch {epoch}  train loss {total / len(train_loader):.3f}  val accuracy {hits / len(val_set):.3f}  "
            f"{seconds:.2f} s"
        )


if __name__ == "__main__":
    main()
