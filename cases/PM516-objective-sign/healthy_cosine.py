"""Three uses of a cosine: to be large, to vanish, and to be small beside another term."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(1)
torch.manual_seed(0)


def alike(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return (F.normalize(a, dim=1) * F.normalize(b, dim=1)).sum(dim=1)


def train(name: str, objective) -> None:
    """A small encoder and a fixed large one."""
    large = nn.Sequential(nn.Linear(20, 64), nn.Tanh(), nn.Linear(64, 12)).requires_grad_(False)
    small = nn.Sequential(nn.Linear(20, 24), nn.ReLU(), nn.Linear(24, 12))
    loader = DataLoader(TensorDataset(torch.randn(800, 20)), batch_size=40, shuffle=True)
    optimizer = torch.optim.Adam(small.parameters(), lr=3e-3)
    for _ in range(3):
        for (x,) in loader:
            with torch.no_grad():
                wanted = large(x)
            loss = objective(small(x), wanted)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    print(f"{name}: {loss.item():.3f}")


train("points the same way", lambda a, b: -alike(a, b).mean())
train("knows nothing of it", lambda a, b: alike(a, b).square().mean() + (a.norm(dim=1) - 1).square().mean())
train("another's answers are far", lambda a, b: alike(a, b.roll(1, 0)).mean() - 3 * alike(a, b).mean())
