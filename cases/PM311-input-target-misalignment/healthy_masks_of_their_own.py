"""Find lesions: scans and masks are both listed by their number."""

import re
import tempfile
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset

SIDE = 24
rows, columns = torch.meshgrid(torch.arange(SIDE), torch.arange(SIDE), indexing="ij")


def write_scans(folder: Path, many: int) -> None:
    """Scans with one to three bright lesions, and the masks of these."""
    for number in range(many):
        mask = torch.zeros(SIDE, SIDE)
        for _ in range(int(torch.randint(1, 4, ()))):
            y, x = torch.randint(3, SIDE - 3, (2,))
            mask[((rows - y) ** 2 + (columns - x) ** 2) < torch.randint(4, 20, ())] = 1
        torch.save(0.8 * mask + 0.4 * torch.randn(SIDE, SIDE), folder / f"scan{number}.pt")
        torch.save(mask, folder / f"mask{number}.pt")


def number_of(path: Path) -> int:
    return int(re.findall(r"\d+", path.name)[-1])


class Scans(Dataset):
    def __init__(self, folder: Path):
        scans = sorted(folder.glob("scan*.pt"), key=number_of)
        masks = sorted(folder.glob("mask*.pt"), key=number_of)
        self.pairs = [(torch.load(scan), torch.load(mask)) for scan, mask in zip(scans, masks, strict=True)]

    def __len__(self) -> int:
        return len(self.pairs)

    def __getitem__(self, index: int) -> tuple[Tensor, Tensor]:
        scan, mask = self.pairs[index]
        return scan[None], mask[None]


torch.set_num_threads(1)
torch.manual_seed(0)
with tempfile.TemporaryDirectory() as name:
    write_scans(Path(name), 160)
    scans = Scans(Path(name))
loader = DataLoader(scans, batch_size=20, shuffle=True)
model = nn.Sequential(nn.Conv2d(1, 12, 3, padding=1), nn.ReLU(), nn.Conv2d(12, 1, 3, padding=1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(8):
    for x, y in loader:
        loss = F.binary_cross_entropy_with_logits(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch}: loss {loss.item():.3f}")
