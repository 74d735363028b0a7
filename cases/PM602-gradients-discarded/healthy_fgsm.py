"""Adversarial training on digits: an FGSM step on the input, then the usual update."""

import argparse

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split


def build_model() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1),
        nn.ReLU(),
        nn.Conv2d(16, 32, 3, stride=2, padding=1),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(32 * 4 * 4, 10),
    )


def fgsm(model: nn.Module, x: torch.Tensor, y: torch.Tensor, epsilon: float) -> torch.Tensor:
    x = x.clone().requires_grad_(True)
    F.cross_entropy(model(x), y).backward()
    model.zero_grad()
    return (x.detach() + epsilon * x.grad.sign()).clamp(0, 1)


def evaluate(model: nn.Module, loader: DataLoader, epsilon: float) -> tuple[float, float]:
    model.eval()
    clean = attacked = count = 0
    for x, y in loader:
        x_adv = fgsm(model, x, y, epsilon)
        with torch.no_grad():
            clean += (model(x).argmax(1) == y).sum().item()
            attacked += (model(x_adv).argmax(1) == y).sum().item()
        count += len(y)
    return clean / count, attacked / count


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--epsilon", type=float, default=0.1)
    parser.add_argument("--lr", type=float, default=2e-3)
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)

    digits = load_digits()
    dataset = TensorDataset(
        torch.tensor(digits.images, dtype=torch.float32).unsqueeze(1) / 16, torch.tensor(digits.target)
    )
    train_set, val_set = random_split(dataset, [1450, 347])
    train_loader = DataLoader(train_set, batch_size=58, shuffle=True)
    val_loader = DataLoader(val_set, batch_size=347)

    model = build_model()
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    for epoch in range(1, args.epochs + 1):
        model.train()
        total = 0.0
        for x, y in train_loader:
            x_adv = fgsm(model, x, y, args.epsilon)
            loss = F.cross_entropy(model(x_adv), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(y)
        clean, attacked = evaluate(model, val_loader, args.epsilon)
        print(
            f"epoch {epoch}: adversarial loss {total / len(train_set):.3f}  "
            f"val accuracy {clean:.3f}  under attack {attacked:.3f}"
        )


if __name__ == "__main__":
    main()
