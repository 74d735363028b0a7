"""Recordings of different length are cut to one second; one of them is shorter than that."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset

SECOND = 64


class Recordings(Dataset):
    def __init__(self, n: int):
        self.label = torch.arange(n) % 3
        self.tracks = [torch.randn(SECOND + int(torch.randint(1, 40, (1,)))) + kind for kind in self.label]
        self.tracks[137] = self.tracks[137][: SECOND - 5]

    def __len__(self) -> int:
        return len(self.label)

    def __getitem__(self, i: int) -> tuple[torch.Tensor, torch.Tensor]:
        return F.pad(self.tracks[i][:SECOND], (0, max(0, SECOND - len(self.tracks[i])))), self.label[i]


def main() -> None:
    torch.manual_seed(0)
    loader = DataLoader(Recordings(300), batch_size=20, shuffle=True)
    model = nn.Sequential(nn.Linear(SECOND, 32), nn.ReLU(), nn.Linear(32, 3))
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(4):
        for track, label in loader:
            loss = F.cross_entropy(model(track), label)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
