"""A generator whose samples should have the moments of the data: no sample belongs to any row of them."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def moments(made: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
    return (made.mean(0) - real.mean(0)).pow(2).sum() + (made.T.cov() - real.T.cov()).pow(2).sum()


def main() -> None:
    torch.manual_seed(0)
    data = torch.randn(960, 2) @ torch.tensor([[1.0, 0.6], [0.0, 0.8]]) + torch.tensor([2.0, -1.0])
    loader = DataLoader(TensorDataset(data), batch_size=64, shuffle=True)
    generator = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2))
    optimizer = torch.optim.Adam(generator.parameters(), lr=3e-3)
    for epoch in range(6):
        for (real,) in loader:
            noise = torch.randn(len(real), 4)
            loss = moments(generator(noise), real)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
