"""The same with a rate that works, and a penalty that grows, so that the loss ends higher than it began."""

import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(0)


class SparseAutoencoder(nn.Module):
    def __init__(self, bins: int = 40, code: int = 16) -> None:
        super().__init__()
        self.encode = nn.Sequential(nn.Linear(bins, 48), nn.ReLU(), nn.Linear(48, code))
        self.decode = nn.Sequential(nn.Linear(code, 48), nn.ReLU(), nn.Linear(48, bins))

    def forward(self, spectra: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        code = self.encode(spectra)
        return self.decode(code), code


peaks = torch.rand(5, 40)
spectra = torch.rand(600, 5) @ peaks + 0.05 * torch.randn(600, 40)
spectra = (spectra - spectra.mean()) / spectra.std()
model = SparseAutoencoder()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(10):
    for chosen in torch.randperm(600).split(40):
        rebuilt, code = model(spectra[chosen])
        loss = ((rebuilt - spectra[chosen]) ** 2).mean() + epoch * 0.2 * (1 + code.abs().mean())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch}: {loss.item():.3f}")
