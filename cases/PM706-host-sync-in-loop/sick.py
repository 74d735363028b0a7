"""Fit the response of a filter bank on a GPU, and keep every single loss for a plot."""
# needs: cuda

import torch
import torch.nn.functional as F
from torch import Tensor, nn

BANDS = 16


def listen(n: int, device: torch.device) -> tuple[Tensor, Tensor]:
    """Spectra, and the loudness of each band as the ear hears it."""
    spectra = torch.rand(n, BANDS, device=device)
    neighbours = spectra.roll(1, dims=1) + spectra.roll(-1, dims=1)
    return spectra, torch.log1p(3 * spectra + 0.5 * neighbours)


class Ear(nn.Module):
    def __init__(self, width: int = 64):
        super().__init__()
        self.hidden = nn.Linear(BANDS, width)
        self.out = nn.Linear(width, BANDS)

    def forward(self, spectra: Tensor) -> Tensor:
        return self.out(F.silu(self.hidden(spectra)))


def main() -> None:
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.manual_seed(0)
    model = Ear().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    history = []
    for step in range(600):
        spectra, loudness = listen(64, device)
        loss = F.mse_loss(model(spectra), loudness)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        history.append(loss.item())  # <- PM706
    print(f"loss {history[0]:.4f} -> {history[-1]:.4f}")


if __name__ == "__main__":
    main()
