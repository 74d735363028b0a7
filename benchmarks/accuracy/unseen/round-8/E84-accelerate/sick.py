"""Gradient accumulation with Accelerate."""
import argparse

import torch
import torch.nn.functional as F
from accelerate import Accelerator
from accelerate.utils import set_seed
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def get_loaders(batch_size):
    digits = load_digits()
    x = torch.tensor(digits.images, dtype=torch.float32).unsqueeze(1)
    y = torch.tensor(digits.target)
    order = torch.randperm(len(x))
    x, y = x[order], y[order]
    x = (x - x[:1408].mean()) / x[:1408].std()
    train = TensorDataset(x[:1408], y[:1408])
    val = TensorDataset(x[1408:], y[1408:])
    return DataLoader(train, batch_size=batch_size, shuffle=True), DataLoader(val, batch_size=128)


class ConvNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 12, 3, padding=1)
        self.conv2 = nn.Conv2d(12, 24, 3, padding=1)
        self.fc1 = nn.Linear(24 * 4, 48)
        self.fc2 = nn.Linear(48, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        return self.fc2(F.relu(self.fc1(x.flatten(1))))


def evaluate(accelerator, model, loader):
    model.eval()
    correct = total = 0
    for x, y in loader:
        with torch.no_grad():
            pred = model(x).argmax(dim=-1)
        pred, y = accelerator.gather_for_metrics((pred, y))
        correct += (pred == y).sum().item()
        total += len(y)
    return correct / total


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float, default=0.12)
    parser.add_argument("--batch_size", type=int, default=8)
    parser.add_argument("--gradient_accumulation_steps", type=int, default=8)
    parser.add_argument("--num_epochs", type=int, default=9)
    args = parser.parse_args()

    accelerator = Accelerator(cpu=True, gradient_accumulation_steps=args.gradient_accumulation_steps)
    set_seed(4)
    train_loader, val_loader = get_loaders(args.batch_size)
    model = ConvNet()
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.8)
    model, optimizer, train_loader, val_loader = accelerator.prepare(
        model, optimizer, train_loader, val_loader)

    for epoch in range(args.num_epochs):
        model.train()
        total_loss = 0.0
        for x, y in train_loader:
            with accelerator.accumulate(model):
                loss = F.cross_entropy(model(x), y)
                loss.backward()
                optimizer.step()
                optimizer.zero_grad()
            total_loss += loss.item()
        acc = evaluate(accelerator, model, val_loader)
        accelerator.print(f"epoch {epoch} loss {total_loss / len(train_loader):.4f} accuracy {acc:.4f}")


if __name__ == "__main__":
    main()
