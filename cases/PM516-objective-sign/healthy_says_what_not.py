"""Two nets whose losses push the answers away from what they are given, and rightly so.

The first learns from labels that say which kind a sample is not; the second gives a distance, and pairs that are marked
with 1 belong together.
"""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def not_this_one(scores: torch.Tensor, wrong: torch.Tensor) -> torch.Tensor:
    p = scores.softmax(dim=-1).gather(1, wrong.unsqueeze(1)).squeeze(1)
    return -(1 - p).clamp(min=1e-6).log().mean()


def contrastive(distance: torch.Tensor, together: torch.Tensor, margin: float = 2.0) -> torch.Tensor:
    return (together * distance.pow(2) + (1 - together) * (margin - distance).clamp(min=0).pow(2)).mean()


class Siamese(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.net = nn.Sequential(nn.Linear(6, 24), nn.Tanh(), nn.Linear(24, 4))

    def forward(self, pair: torch.Tensor) -> torch.Tensor:
        return (self.net(pair[:, 0]) - self.net(pair[:, 1])).pow(2).sum(1).add(1e-6).sqrt()


def train(model: nn.Module, data: TensorDataset, objective) -> None:
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(3):
        for inputs, given in DataLoader(data, batch_size=32, shuffle=True):
            loss = objective(model(inputs), given)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch} loss {loss.item():.4f}")


def main() -> None:
    torch.manual_seed(0)
    centres = torch.randn(4, 6) * 2
    kinds = torch.randint(4, (960,))
    samples = centres[kinds] + torch.randn(960, 6)
    wrong = (kinds + torch.randint(1, 4, (960,))) % 4
    train(nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 4)), TensorDataset(samples, wrong), not_this_one)
    pairs = torch.stack([samples[:480], samples[480:]], 1)
    together = (kinds[:480] == kinds[480:]).float()
    train(Siamese(), TensorDataset(pairs, together), contrastive)


if __name__ == "__main__":
    main()
