"""Few samples, many features: a regularised mixed-precision MLP for a sparse regression."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

FEATURES, INFORMATIVE = 60, 5


def make_split(count: int, weights: torch.Tensor) -> TensorDataset:
    x = torch.randn(count, FEATURES)
    y = x @ weights + 0.5 * torch.randn(count)
    return TensorDataset(x, y)


class Regressor(nn.Module):
    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(FEATURES, hidden), nn.ReLU(), nn.Linear(hidden, 1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layers(x).squeeze(1)


class Trainer:
    def __init__(self, model: nn.Module, lr: float, weight_decay: float) -> None:
        self.model = model
        self.criterion = nn.MSELoss()
        self.optimizer = torch.optim.Adam(model.parameters(), lr=lr, weight_decay=weight_decay)
        self.scaler = torch.amp.GradScaler("cpu")

    def train_epoch(self, loader: DataLoader) -> float:
        self.model.train()
        total = 0.0
        for x, y in loader:
            with torch.autocast("cpu", dtype=torch.bfloat16):
                prediction = self.model(x)
            loss = self.criterion(prediction.float(), y)
            self.optimizer.zero_grad()
            self.scaler.scale(loss).backward()
            self.optimizer.step()  # <- PM606
            total += loss.item() * len(y)
        return total / len(loader.dataset)

    @torch.no_grad()
    def evaluate(self, loader: DataLoader) -> float:
        self.model.eval()
        error = torch.cat([self.model(x) - y for x, y in loader])
        return error.square().mean().item()


def main() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    weights = torch.zeros(FEATURES)
    weights[:INFORMATIVE] = torch.tensor([0.6, -0.5, 0.4, 0.3, -0.3])
    train_loader = DataLoader(make_split(160, weights), batch_size=32, shuffle=True)
    val_loader = DataLoader(make_split(400, weights), batch_size=200)

    trainer = Trainer(Regressor(hidden=64), lr=3e-3, weight_decay=0.1)
    for epoch in range(1, 41):
        loss = trainer.train_epoch(train_loader)
        if epoch % 10 == 0:
            print(f"epoch {epoch}: train mse {loss:.3f}  val mse {trainer.evaluate(val_loader):.3f}")


if __name__ == "__main__":
    main()
