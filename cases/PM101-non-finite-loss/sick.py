"""Insurance claims: a gamma deviance as the loss, and one policy whose predicted cost underflows."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
torch.set_num_threads(1)


def policies(n: int) -> TensorDataset:
    features = torch.randn(n, 8)
    features[n // 2] = -500.0  # a vehicle entered in the wrong unit
    cost = torch.exp(0.4 * features[:, 0].clamp(-3, 3) + 0.2 * torch.randn(n))
    return TensorDataset(features, cost)


class CostModel(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.sigmoid(self.net(x)).squeeze(1) * 10


def gamma_deviance(cost: torch.Tensor, predicted: torch.Tensor) -> torch.Tensor:
    ratio = cost / (predicted + 1e-30)
    return 2 * (-torch.log(predicted) + ratio.clamp(max=50) - 1).mean()  # <- PM101


def main() -> None:
    loader = DataLoader(policies(1600), batch_size=32, shuffle=True)
    model = CostModel()
    with torch.no_grad():  # all policies start cheap
        model.net[2].weight.fill_(-0.2)
        model.net[0].weight.abs_().neg_()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for epoch in range(3):
        total = 0.0
        for features, cost in loader:
            predicted = model(features)
            loss = gamma_deviance(cost, predicted)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch} deviance {total / len(loader):.4f}")


if __name__ == "__main__":
    main()
