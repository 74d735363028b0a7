"""Gestures from accelerometer tracks, with random scaling and jitter against over-fitting."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset, random_split


class Gestures(Dataset):
    def __init__(self, n: int, augment: bool):
        self.label = torch.arange(n) % 5
        time = torch.linspace(0, 6.28, 40)
        self.tracks = torch.sin(time * (1 + self.label[:, None])) + 0.2 * torch.randn(n, 40)
        self.augment = augment

    def __len__(self) -> int:
        return len(self.label)

    def __getitem__(self, i: int) -> tuple[torch.Tensor, torch.Tensor]:
        track = self.tracks[i]
        if self.augment:
            track = track * (0.7 + 0.6 * torch.rand(1)) + 0.3 * torch.randn_like(track)
        return track, self.label[i]


def main() -> None:
    torch.manual_seed(0)
    gestures = Gestures(500, augment=True)
    train_set, val_set = random_split(gestures, [400, 100])  # <- PM317
    train_loader = DataLoader(train_set, batch_size=25, shuffle=True)
    val_loader = DataLoader(val_set, batch_size=50)
    model = nn.Sequential(nn.Linear(40, 48), nn.ReLU(), nn.Linear(48, 5))
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(6):
        model.train()
        for track, label in train_loader:
            loss = F.cross_entropy(model(track), label)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            hits = sum((model(track).argmax(1) == label).sum().item() for track, label in val_loader)
        print(f"epoch {epoch} loss {loss.item():.4f} accuracy {hits / len(val_set):.3f}")


if __name__ == "__main__":
    main()
