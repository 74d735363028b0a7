"""VAE on curves, F.mse_loss plus an annealed KL term; the total ends higher than it began, and the model is fine."""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class CurveVAE(nn.Module):
    def __init__(self, points: int, latent: int):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(points, 64), nn.Tanh(), nn.Linear(64, 2 * latent))
        self.decoder = nn.Sequential(nn.Linear(latent, 64), nn.Tanh(), nn.Linear(64, points))

    def forward(self, x: Tensor):
        mean, log_variance = self.encoder(x).chunk(2, dim=-1)
        z = mean + torch.randn_like(mean) * (log_variance / 2).exp()
        kl = 0.5 * (mean**2 + log_variance.exp() - 1 - log_variance).sum(1).mean()
        return self.decoder(z), kl


def curves(n: int, points: int = 32) -> Tensor:
    t = torch.linspace(0, 1, points)
    return (0.5 + torch.rand(n, 1)) * torch.sin(2 * math.pi * (t + torch.rand(n, 1)))


def anneal(step: int, warm: int, highest: float) -> float:
    return highest * min(1.0, step / warm)


def main() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = CurveVAE(32, 3)
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for step in range(500):
        x = curves(64)
        reconstruction, kl = model(x)
        mse = F.mse_loss(reconstruction, x)
        loss = mse + anneal(step, 400, 0.15) * kl
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 50 == 0:
            print(f"{step} loss {loss.item()!r} mse {mse.item()!r} kl {kl.item()!r}")
    print(f"final loss {loss.item()} mse {mse.item()} against {curves(1000).var().item()}")
    assert mse < 0.6 * curves(1000).var()


if __name__ == "__main__":
    main()
