"""How many stars will a guest give? Ratings are whole numbers, so the prediction is rounded to whole stars."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset


def make_reviews(n: int, taste: Tensor) -> TensorDataset:
    """Standardised facts about a stay (price, noise, distance, ...) and the guest's rating from 1 to 5."""
    facts = torch.randn(n, 8)
    return TensorDataset(facts, (3 + facts @ taste + 0.3 * torch.randn(n)).round().clamp(1, 5))


class StarPredictor(nn.Module):
    def __init__(self, features: int, hidden: int = 32):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(features, hidden), nn.SiLU(), nn.Linear(hidden, hidden), nn.SiLU())
        self.head = nn.Linear(hidden, 1)

    def forward(self, facts: Tensor) -> Tensor:
        stars = 3 + self.head(self.body(facts)).squeeze(-1)
        return stars.round()  # <- PM215


@torch.no_grad()
def hit_rate(model: nn.Module, loader: DataLoader) -> float:
    model.eval()
    hits = sum((model(facts) == stars).sum().item() for facts, stars in loader)
    return hits / len(loader.dataset)


def main() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    taste = 0.4 * torch.randn(8)
    train_loader = DataLoader(make_reviews(1600, taste), batch_size=40, shuffle=True)
    val_loader = DataLoader(make_reviews(400, taste), batch_size=200)
    model = StarPredictor(features=8)
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    for epoch in range(1, 6):
        model.train()
        total = 0.0
        for facts, stars in train_loader:
            loss = F.mse_loss(model(facts), stars)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch}: train mse {total / len(train_loader):.3f}  exact {hit_rate(model, val_loader):.3f}")


if __name__ == "__main__":
    main()
