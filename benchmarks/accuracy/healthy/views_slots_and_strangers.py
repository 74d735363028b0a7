"""Two views of each picture, in the evaluation as well; masks that are to keep apart; and a look at strange data."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset, TensorDataset

torch.set_num_threads(1)
torch.manual_seed(7)
KINDS, SIDE = 5, 12
prototypes = torch.randn(KINDS, 1, SIDE, SIDE)


class Views(Dataset):
    def __init__(self, count: int) -> None:
        self.kinds = torch.randint(KINDS, (count,))
        self.pictures = prototypes[self.kinds] + 0.3 * torch.randn(count, 1, SIDE, SIDE)

    def __len__(self) -> int:
        return len(self.kinds)

    def __getitem__(self, i: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        return self.view(i), self.view(i), self.kinds[i]

    def view(self, i: int) -> torch.Tensor:
        shift = torch.randint(-2, 3, (2,)).tolist()
        return torch.roll(self.pictures[i], shift, (1, 2)) + 0.1 * torch.randn(1, SIDE, SIDE)


class Encoder(nn.Module):
    def __init__(self, width: int = 12, slots: int = 3) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, width, 3, padding=1), nn.ReLU(), nn.Conv2d(width, width, 3, padding=1)
        )
        self.masks = nn.Conv2d(width, slots, 1)
        self.project = nn.Linear(width * slots, 16)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        features = F.relu(self.features(x))
        masks = torch.sigmoid(self.masks(features))
        slots = torch.einsum("bshw,bchw->bsc", masks, features) / masks.sum((2, 3)).unsqueeze(-1)
        return F.normalize(self.project(slots.flatten(1)), dim=1), masks


def overlap(masks: torch.Tensor) -> torch.Tensor:
    first, second = masks[:, :-1], masks[:, 1:]
    both = (first * second).sum((2, 3))
    iou = both / ((first + second).sum((2, 3)) - both)
    return iou.mean()


def contrast(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return F.cross_entropy(a @ b.T / 0.2, torch.arange(len(a)))


train_loader = DataLoader(Views(512), batch_size=64, shuffle=True)
val_loader = DataLoader(Views(128), batch_size=64)
strangers = DataLoader(TensorDataset(30 * torch.rand(128, 1, SIDE, SIDE)), batch_size=64)
model = Encoder()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(8):
    model.train()
    for first, second, _ in train_loader:
        (a, masks), (b, _) = model(first), model(second)
        loss = contrast(a, b) + 0.1 * overlap(masks)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        losses = [contrast(model(a)[0], model(b)[0]).item() for a, b, _ in val_loader]
        known = torch.cat([model(a)[0] for a, *_ in val_loader])
        strange = torch.cat([model(x)[0] for (x,) in strangers])
    near = (strange @ known.T).max(1).values.mean().item()
    print(f"epoch {epoch} held out {sum(losses) / len(losses):.3f} strangers' likeness {near:.3f}")
