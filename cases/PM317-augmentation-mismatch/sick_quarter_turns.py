"""Find the crop on fields: the picture and its mask are turned by numbers drawn separately."""

import random

import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset

SIDE = 20


def field() -> tuple[Tensor, Tensor]:
    """A field as a satellite sees it, red and green, and where its crop stands: as bright as the soil, but greener."""
    crop = torch.zeros(SIDE, SIDE)
    top, left = torch.randint(0, 8, (2,))
    crop[top : top + 11, left : left + 4] = 1
    crop[top : top + 3, left : left + 9] = 1
    red, green = 0.6 - 0.3 * crop, 0.3 + 0.3 * crop
    return torch.stack([red, green]) + 0.12 * torch.randn(2, SIDE, SIDE), crop[None]


def turn(picture: Tensor, times: int) -> Tensor:
    return picture.rot90(times, (-2, -1))


class Fields(Dataset):
    def __init__(self, many: int):
        self.fields = [field() for _ in range(many)]

    def __len__(self) -> int:
        return len(self.fields)

    def __getitem__(self, index: int) -> tuple[Tensor, Tensor]:
        picture, crop = self.fields[index]
        picture = turn(picture, random.randrange(4))
        return picture, turn(crop, random.randrange(4))  # <- PM317


torch.set_num_threads(1)
torch.manual_seed(0)
random.seed(0)
loader = DataLoader(Fields(160), batch_size=16, shuffle=True)
model = nn.Sequential(nn.Conv2d(2, 12, 3, padding=1), nn.ReLU(), nn.Conv2d(12, 1, 3, padding=1))
criterion = nn.BCEWithLogitsLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(5):
    for x, y in loader:
        loss = criterion(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch}: loss {loss.item():.3f}")
