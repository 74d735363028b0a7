"""Where is the box? Corners are turned into a centre and the logarithm of a size, as detectors do it."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Objects(Dataset):
    """Annotated as left, top, width and height, in pixels."""

    def __init__(self, n: int):
        size = 10 + 40 * torch.rand(n, 2)
        corner = (100 - size) * torch.rand(n, 2)
        self.annotations = torch.cat([corner, size], 1)
        self.features = torch.cat([corner, size], 1) / 100 + 0.01 * torch.randn(n, 4)
        self.features = torch.cat([self.features, self.features.square()], 1)

    def __len__(self) -> int:
        return len(self.annotations)

    def __getitem__(self, i: int) -> tuple[torch.Tensor, torch.Tensor]:
        box = self.annotations[i].clone()
        return self.features[i], box  # <- PM312


def encoded(corners: torch.Tensor) -> torch.Tensor:
    size = corners[:, 2:] - corners[:, :2]
    return torch.cat([(corners[:, :2] + size / 2) / 100, (size / 100).log()], 1)


def main() -> None:
    torch.manual_seed(0)
    loader = DataLoader(Objects(480), batch_size=32, shuffle=True)
    model = nn.Sequential(nn.Linear(8, 48), nn.ReLU(), nn.Linear(48, 4))
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(4):
        for features, box in loader:
            loss = F.smooth_l1_loss(model(features), encoded(box))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
