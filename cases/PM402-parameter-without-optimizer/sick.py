"""Predict cultivar and alcohol of a wine with one trunk, two heads and learned task weights."""

import argparse

import torch
import torch.nn.functional as F
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class WineNet(nn.Module):
    def __init__(self, features: int, hidden: int, classes: int) -> None:
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(features, hidden), nn.ReLU(), nn.Dropout(0.1))
        self.cultivar = nn.Linear(hidden, classes)
        self.alcohol = nn.Linear(hidden, 1)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        hidden = self.trunk(x)
        return self.cultivar(hidden), self.alcohol(hidden).squeeze(1)


class UncertaintyLoss(nn.Module):
    """Weigh the tasks by their learned homoscedastic uncertainty (Kendall et al., 2018)."""

    def __init__(self, tasks: int) -> None:
        super().__init__()
        self.log_variance = nn.Parameter(torch.zeros(tasks))

    def forward(self, losses: torch.Tensor) -> torch.Tensor:
        return (torch.exp(-self.log_variance) * losses + self.log_variance).sum()


def task_losses(model: WineNet, x: torch.Tensor, cultivar: torch.Tensor, alcohol: torch.Tensor) -> torch.Tensor:
    logits, prediction = model(x)
    return torch.stack([F.cross_entropy(logits, cultivar), F.mse_loss(prediction, alcohol)])


def load_data() -> tuple[TensorDataset, TensorDataset]:
    table, cultivar = load_wine(return_X_y=True)
    train, valid, c_train, c_valid = train_test_split(
        table, cultivar, test_size=0.25, random_state=1, stratify=cultivar
    )
    mean, std = train.mean(axis=0), train.std(axis=0)
    datasets = []
    for rows, labels in ((train, c_train), (valid, c_valid)):
        scaled = torch.tensor((rows - mean) / std, dtype=torch.float32)
        datasets.append(TensorDataset(scaled[:, 1:], torch.tensor(labels), scaled[:, 0]))
    return datasets[0], datasets[1]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--hidden", type=int, default=32)
    parser.add_argument("--lr", type=float, default=5e-3)
    args = parser.parse_args()

    torch.manual_seed(0)
    torch.set_num_threads(1)
    train, valid = load_data()
    loader = DataLoader(train, batch_size=args.batch_size, shuffle=True)
    model = WineNet(features=12, hidden=args.hidden, classes=3)
    criterion = UncertaintyLoss(tasks=2)
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)  # <- PM402

    for epoch in range(args.epochs):
        model.train()
        total = 0.0
        for x, cultivar, alcohol in loader:
            optimizer.zero_grad()
            loss = criterion(task_losses(model, x, cultivar, alcohol))
            loss.backward()
            optimizer.step()
            total += loss.item() * len(x)

        if epoch % 5 == 4:
            model.eval()
            with torch.no_grad():
                x, cultivar, alcohol = valid.tensors
                logits, prediction = model(x)
                accuracy = (logits.argmax(dim=1) == cultivar).float().mean().item()
                error = F.mse_loss(prediction, alcohol).item()
            weights = torch.exp(-criterion.log_variance).tolist()
            print(
                f"epoch {epoch + 1}: loss {total / len(train):.3f}  valid accuracy {accuracy:.3f}"
                f"  valid mse {error:.3f}  weights {weights[0]:.3f} {weights[1]:.3f}"
            )


if __name__ == "__main__":
    main()
