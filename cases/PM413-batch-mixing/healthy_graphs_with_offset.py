"""Classify molecules: a batch of them is one graph, and the bonds of each are moved to where its atoms are."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils.data import DataLoader

Molecule = tuple[Tensor, Tensor, int]  # features of its atoms, its bonds, its class


def molecule() -> Molecule:
    """A ring of atoms of two kinds; the class says whether neighbours are mostly alike."""
    many, alike = int(torch.randint(5, 9, ())), int(torch.randint(2, ()))
    kinds = (torch.arange(many) // (4 if alike else 1)) % 2
    ring = torch.stack([torch.arange(many), (torch.arange(many) + 1) % many])
    return F.one_hot(kinds, 2) + 0.1 * torch.randn(many, 2), torch.cat([ring, ring.flip(0)], dim=1), alike


def join(molecules: list[Molecule]) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    sizes = torch.tensor([len(atoms) for atoms, _, _ in molecules])
    starts = (sizes.cumsum(0) - sizes).tolist()
    bonds = torch.cat([bonds + start for (_, bonds, _), start in zip(molecules, starts, strict=True)], dim=1)
    atoms = torch.cat([atoms for atoms, _, _ in molecules])
    return atoms, bonds, sizes, torch.tensor([label for _, _, label in molecules])


class Network(nn.Module):
    def __init__(self, width: int = 24):
        super().__init__()
        self.first, self.second = nn.Linear(4, width), nn.Linear(2 * width, width)
        self.head = nn.Linear(width, 2)

    def forward(self, atoms: Tensor, bonds: Tensor, sizes: Tensor) -> Tensor:
        for layer in (self.first, self.second):
            heard = torch.zeros_like(atoms).index_add(0, bonds[1], atoms[bonds[0]])
            atoms = F.relu(layer(torch.cat([atoms, heard], dim=1)))
        return self.head(torch.stack([part.mean(0) for part in atoms.split(sizes.tolist())]))


torch.set_num_threads(1)
torch.manual_seed(0)
loader = DataLoader([molecule() for _ in range(320)], batch_size=16, shuffle=True, collate_fn=join)
unseen = join([molecule() for _ in range(100)])
model = Network()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(6):
    model.train()
    for atoms, bonds, sizes, labels in loader:
        loss = F.cross_entropy(model(atoms, bonds, sizes), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        accuracy = (model(*unseen[:3]).argmax(1) == unseen[3]).float().mean().item()
    print(f"epoch {epoch}: loss {loss.item():.3f}, accuracy {accuracy:.2f}")
