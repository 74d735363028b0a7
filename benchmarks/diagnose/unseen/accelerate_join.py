"""Customers who leave: two tables joined on their rows, trained with Accelerate."""
import numpy as np
import torch
from accelerate import Accelerator
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def tables(n=2400):
    rng = np.random.default_rng(7)
    ids = np.arange(n)
    usage = rng.normal(size=(n, 6)).astype(np.float32)
    score = 1.5 * usage[:, 0] - usage[:, 1] + usage[:, 2] * usage[:, 3]
    churn = (score + 0.3 * rng.normal(size=n) > 0).astype(np.int64)
    features = {"id": ids, "usage": usage}
    # the outcomes come from another system, ordered by the day they were entered
    entered = rng.permutation(n)
    outcomes = {"id": ids[entered], "churn": churn[entered]}
    return features, outcomes


def dataset():
    features, outcomes = tables()
    x = torch.tensor(features["usage"])
    y = torch.tensor(outcomes["churn"])
    return TensorDataset(x[:2000], y[:2000]), TensorDataset(x[2000:], y[2000:])


def main():
    accelerator = Accelerator(cpu=True)
    torch.manual_seed(0)
    train, test = dataset()
    model = nn.Sequential(nn.Linear(6, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2))
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    loader, held = DataLoader(train, 50, shuffle=True), DataLoader(test, 100)
    model, optimizer, loader, held = accelerator.prepare(model, optimizer, loader, held)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(8):
        model.train()
        for x, y in loader:
            loss = criterion(model(x), y)
            accelerator.backward(loss)
            optimizer.step()
            optimizer.zero_grad()
        model.eval()
        with torch.no_grad():
            right = sum((model(x).argmax(1) == y).sum().item() for x, y in held)
        accelerator.print(f"epoch {epoch}: loss {loss.item():.3f}, accuracy {right / 400:.3f}")


if __name__ == "__main__":
    main()
