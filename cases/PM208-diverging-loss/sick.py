"""Predict the strength of concrete from its recipe and age."""

import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset


def mix(n: int) -> tuple[Tensor, Tensor]:
    """Recipes (cement, water, slag, ash, age; all scaled to 0..1) and strengths in units of 100 MPa."""
    recipe = torch.rand(n, 5)
    cement, water, slag, ash, age = recipe.unbind(dim=1)
    strength = 0.15 + 0.5 * cement + 0.25 * slag + 0.1 * ash - 0.3 * water
    strength = strength * (0.6 + 0.4 * torch.log1p(20 * age) / 3) + 0.1 * cement * age
    return recipe, strength + 0.02 * torch.randn(n)


class ConcreteDataset(Dataset):
    """Recipes centred around zero, strengths standardised."""

    def __init__(self, recipes: Tensor, strengths: Tensor, mean: float, std: float):
        self.recipes, self.strengths = recipes, strengths
        self.mean, self.std = mean, std

    def __len__(self) -> int:
        return len(self.recipes)

    def __getitem__(self, index: int) -> tuple[Tensor, Tensor]:
        recipe, strength = self.recipes[index], self.strengths[index]
        strength -= self.mean
        strength /= self.std
        return 2 * recipe - 1, strength


class Net(nn.Module):
    def __init__(self, width: int = 64):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(5, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.head = nn.Linear(width, 1)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.layers(x)).squeeze(1)


@torch.no_grad()
def validate(model: nn.Module, loader: DataLoader, criterion: nn.Module) -> float:
    model.eval()
    return sum(criterion(model(x), y).item() * len(y) for x, y in loader) / len(loader.dataset)


def main() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    recipes, strengths = mix(1250)
    mean, std = strengths[:1000].mean().item(), strengths[:1000].std().item()
    train_set = ConcreteDataset(recipes[:1000], strengths[:1000], mean, std)
    val_set = ConcreteDataset(recipes[1000:], strengths[1000:], mean, std)
    train_loader = DataLoader(train_set, batch_size=25, shuffle=True)
    val_loader = DataLoader(val_set, batch_size=250)

    model, criterion = Net(), nn.MSELoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(1, 7):
        model.train()
        total = 0.0
        for x, y in train_loader:
            optimizer.zero_grad()
            loss = criterion(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item() * len(y)
        print(
            f"epoch {epoch}  train mse {total / len(train_set):.4g}  "
            f"val mse {validate(model, val_loader, criterion):.4g}"
        )


if __name__ == "__main__":
    main()
