"""Predict which shop visitors buy, from their browsing counters."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset


def browsing_log(n: int) -> dict[str, Tensor]:
    interest = torch.randn(n)
    views = torch.poisson(torch.full((n,), 7.0))
    clicks = torch.binomial(views, torch.sigmoid(interest - 1))
    minutes = torch.exp(0.5 * torch.randn(n) + 1)
    basket = torch.relu(30 + 15 * interest + 10 * torch.randn(n))
    bought = torch.bernoulli(torch.sigmoid(2 * interest + 0.05 * (basket - 30)))
    return {"views": views, "clicks": clicks, "minutes": minutes, "basket": basket, "bought": bought}


class Features:
    """Standardised counters (statistics of the training log) plus the click rate, which already lies in 0..1."""

    def __init__(self, train_log: dict[str, Tensor]):
        counters = self.counters(train_log)
        self.mean, self.std = counters.mean(dim=0), counters.std(dim=0)

    @staticmethod
    def counters(log: dict[str, Tensor]) -> Tensor:
        return torch.stack([log["views"], log["minutes"].log(), log["basket"]], dim=1)

    def __call__(self, log: dict[str, Tensor]) -> Tensor:
        click_rate = log["clicks"] / log["views"]
        scaled = (self.counters(log) - self.mean) / self.std
        return torch.cat([scaled, click_rate.unsqueeze(1)], dim=1)


class Buyer(nn.Module):
    def __init__(self, n_features: int, hidden: int = 32):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(n_features, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, 1)
        )

    def forward(self, x: Tensor) -> Tensor:
        return self.net(x).squeeze(1)


def main() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    train_log, val_log = browsing_log(2400), browsing_log(300)
    features = Features(train_log)
    train_set = TensorDataset(features(train_log), train_log["bought"])
    loader = DataLoader(train_set, batch_size=48, shuffle=True)
    x_val, y_val = features(val_log), val_log["bought"]

    model = Buyer(x_val.shape[1])
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    for epoch in range(5):
        model.train()
        total = 0.0
        for step, (x, y) in enumerate(loader):
            optimizer.zero_grad()
            loss = F.binary_cross_entropy_with_logits(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item()
            if step % 10 == 0:
                print(f"  epoch {epoch} step {step:2d}  loss {loss.item():.4f}")
        model.eval()
        with torch.no_grad():
            accuracy = ((model(x_val) > 0) == (y_val == 1)).float().mean().item()
        print(f"epoch {epoch}  train loss {total / len(loader):.4f}  val acc {accuracy:.3f}")


if __name__ == "__main__":
    main()
