"""A variational auto-encoder for readings of two hidden causes."""

import torch
import torch.nn.functional as F
from torch import nn


class Autoencoder(nn.Module):
    def __init__(self, latent: int = 48):
        super().__init__()
        self.encoder = nn.Linear(16, 2 * latent)
        self.decoder = nn.Linear(latent, 16)
        nn.init.normal_(self.encoder.weight, std=0.02)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        mu, log_std = self.encoder(x).chunk(2, 1)
        return self.decoder(mu + torch.randn_like(mu) * log_std.exp()), mu, log_std


def main() -> None:
    torch.manual_seed(0)
    mixing = torch.randn(2, 16)
    model = Autoencoder()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-2)
    for step in range(400):
        x = torch.randn(64, 2) @ mixing + 0.2 * torch.randn(64, 16)
        decoded, mu, log_std = model(x)
        kl = -0.5 * (1 + 2 * log_std - mu**2 - (2 * log_std).exp()).mean()
        loss = F.mse_loss(decoded, x) + kl
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 25 == 0:
            print(f"step {step} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
