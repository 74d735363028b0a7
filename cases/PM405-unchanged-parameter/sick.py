"""A sparse autoencoder on activations in superposition, trained with a compact Lion optimizer."""

import torch
import torch.nn.functional as F
from torch import nn

FEATURES, WIDTH, CODES = 60, 24, 96


class Lion(torch.optim.Optimizer):
    """Sign of an interpolated momentum (Chen et al., 2023), written over flat vectors."""

    def __init__(self, params, lr: float = 1e-4, betas: tuple[float, float] = (0.9, 0.99)) -> None:
        super().__init__(params, {"lr": lr, "betas": betas})

    @torch.no_grad()
    def step(self, closure=None) -> None:
        for group in self.param_groups:
            fast, slow = group["betas"]
            for p in group["params"]:
                if p.grad is None:
                    continue
                momentum = self.state[p].setdefault("momentum", torch.zeros(p.numel()))
                weight, grad = p.reshape(-1), p.grad.reshape(-1)
                weight.sub_(group["lr"] * torch.lerp(grad, momentum, fast).sign())
                momentum.lerp_(grad, 1 - slow)


class SparseAutoencoder(nn.Module):
    def __init__(self, width: int, codes: int) -> None:
        super().__init__()
        self.encoder = nn.Linear(width, codes)
        self.decoder = nn.Linear(codes, width)
        self.decoder.weight.data = 0.4 * F.normalize(self.decoder.weight.data, dim=0)
        self.encoder.weight.data = self.decoder.weight.data.t().clone()

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        codes = F.relu(self.encoder(x))
        return self.decoder(codes), codes


def make_activations(count: int, directions: torch.Tensor) -> torch.Tensor:
    """Each row is a sum of a few feature directions with random strengths."""
    active = torch.rand(count, FEATURES) < 0.05
    strengths = active * torch.rand(count, FEATURES).add(0.5)
    return strengths @ directions + 0.02 * torch.randn(count, WIDTH)


@torch.no_grad()
def evaluate(model: SparseAutoencoder, x: torch.Tensor) -> tuple[float, float]:
    model.eval()
    reconstruction, codes = model(x)
    explained = 1 - (x - reconstruction).var() / x.var()
    return explained.item(), (codes > 0).float().sum(dim=1).mean().item()


def main() -> None:
    torch.manual_seed(0)
    torch.set_num_threads(1)
    directions = F.normalize(torch.randn(FEATURES, WIDTH), dim=1)
    train, valid = make_activations(6000, directions), make_activations(600, directions)
    scale = train.std()
    train, valid = train / scale, valid / scale

    model = SparseAutoencoder(WIDTH, CODES)
    optimizer = Lion(model.parameters(), lr=1e-3)
    for epoch in range(6):
        model.train()
        total = 0.0
        for indices in torch.randperm(len(train)).split(120):
            x = train[indices]
            reconstruction, codes = model(x)
            loss = F.mse_loss(reconstruction, x) + 0.15 * codes.sum(dim=1).mean() / WIDTH
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(x)
        explained, active = evaluate(model, valid)
        print(f"epoch {epoch}: loss {total / len(train):.4f}  explained {explained:.3f}  active codes {active:.1f}")


if __name__ == "__main__":
    main()
