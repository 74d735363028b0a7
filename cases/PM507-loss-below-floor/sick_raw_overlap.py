"""Cells in small pictures: the overlap of prediction and mask is written by hand, for probabilities."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(1)
torch.manual_seed(0)


def missed(found: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
    both = (found * wanted).flatten(1).sum(1)  # <- PM507
    return 1 - ((2 * both + 1) / ((found + wanted).flatten(1).sum(1) + 1)).mean()


masks = torch.zeros(240, 1, 16, 16)
for mask in masks:
    row, column = torch.randint(2, 10, (2,)).tolist()
    mask[0, row : row + 5, column : column + 4] = 1
loader = DataLoader(TensorDataset(masks + 0.4 * torch.randn_like(masks), masks), batch_size=12, shuffle=True)
model = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 1, 3, padding=1))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(5):
    for picture, mask in loader:
        loss = missed(model(picture), mask)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch}: {loss.item():.3f}")
