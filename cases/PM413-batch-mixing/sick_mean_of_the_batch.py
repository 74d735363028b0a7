"""Does a walk end above where it began? Each step is seen beside the mean of its walk."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Walks(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.step = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 16), nn.ReLU())
        self.out = nn.Linear(16, 2)

    def forward(self, walk: torch.Tensor) -> torch.Tensor:
        centre = walk.mean(0, keepdim=True).expand_as(walk)  # <- PM413
        states = self.step(torch.stack([walk, centre], -1))
        return self.out(states.mean(1))


def main() -> None:
    torch.manual_seed(0)
    walks = torch.randn(800, 20)
    above = (walks.sum(1) > 0).long()
    loader = DataLoader(TensorDataset(walks, above), batch_size=40, shuffle=True)
    model = Walks()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(4):
        for x, y in loader:
            loss = nn.functional.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch} loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
