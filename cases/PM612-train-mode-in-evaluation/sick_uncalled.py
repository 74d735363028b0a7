"""Denoising spectra: the evaluation names eval without calling it, and measures with dropout."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
torch.set_num_threads(1)


def spectra(n: int) -> tuple[torch.Tensor, torch.Tensor]:
    place = torch.linspace(0, 1, 32)
    centre, width = torch.rand(n, 1), 0.05 + 0.1 * torch.rand(n, 1)
    clean = torch.exp(-(((place - centre) / width) ** 2))
    return clean + 0.2 * torch.randn(n, 32), clean


class Denoiser(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.net = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Dropout(0.4), nn.Linear(64, 32))

    def forward(self, noisy: torch.Tensor) -> torch.Tensor:
        return self.net(noisy)


model = Denoiser()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
train, held_out = spectra(1200), spectra(200)


@torch.no_grad()
def restored(noisy: torch.Tensor) -> torch.Tensor:
    model.eval  # <- PM612
    return model(noisy)


for epoch in range(8):
    model.train()
    for rows in torch.randperm(1200).split(64):
        loss = F.mse_loss(model(train[0][rows]), train[1][rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    gap = (restored(held_out[0]) - held_out[1]).abs().mean()
    print(f"epoch {epoch} loss {loss.item():.4f} held-out error {gap.item():.4f}")
