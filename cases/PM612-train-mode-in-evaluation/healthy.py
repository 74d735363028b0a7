"""Regression with uncertainty by Monte Carlo dropout: dropout is switched on again on purpose at prediction time."""

import torch
import torch.nn.functional as F
from torch import nn


class DropoutRegressor(nn.Module):
    def __init__(self, hidden: int = 64, p: float = 0.1) -> None:
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(1, hidden),
            nn.Tanh(),
            nn.Dropout(p),
            nn.Linear(hidden, hidden),
            nn.Tanh(),
            nn.Dropout(p),
            nn.Linear(hidden, 1),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.net(x)


def make_data(count: int) -> tuple[torch.Tensor, torch.Tensor]:
    x = 3 * torch.rand(count, 1) - 1.5
    return x, torch.sin(3 * x) + 0.1 * torch.randn(count, 1)


def enable_mc_dropout(model: nn.Module) -> None:
    """Evaluation mode everywhere except in the dropout layers."""
    model.eval()
    for module in model.modules():
        if isinstance(module, nn.Dropout):
            module.train()


@torch.no_grad()
def mc_predict(model: nn.Module, x: torch.Tensor, samples: int = 50) -> tuple[torch.Tensor, torch.Tensor]:
    enable_mc_dropout(model)
    draws = torch.stack([model(x) for _ in range(samples)])
    return draws.mean(0), draws.std(0)


@torch.no_grad()
def point_error(model: nn.Module, x: torch.Tensor, y: torch.Tensor) -> float:
    model.eval()
    return F.mse_loss(model(x), y).item()


def main() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    x_train, y_train = make_data(320)
    x_val, y_val = make_data(200)
    model = DropoutRegressor()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)

    for epoch in range(1, 41):
        model.train()
        total = 0.0
        for rows in torch.randperm(len(x_train)).split(32):
            loss = F.mse_loss(model(x_train[rows]), y_train[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(rows)
        if epoch % 10 == 0:
            mean, _ = mc_predict(model, x_val)
            print(
                f"epoch {epoch}: train mse {total / len(x_train):.4f}  "
                f"val mse {point_error(model, x_val, y_val):.4f}  MC mean mse {F.mse_loss(mean, y_val).item():.4f}"
            )

    _, inside = mc_predict(model, x_val)
    _, outside = mc_predict(model, torch.linspace(3, 5, 100).unsqueeze(1))
    print(
        f"target variance {y_val.var():.3f}  "
        f"uncertainty inside the data {inside.mean():.3f}, outside {outside.mean():.3f}"
    )


if __name__ == "__main__":
    main()
