"""Digits, with metric objects: one is reset after each epoch, one keeps the training loss of the whole run on purpose."""

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split
from torchmetrics import MeanMetric
from torchmetrics.classification import MulticlassAccuracy, MulticlassF1Score

torch.manual_seed(0)
torch.set_num_threads(1)


def main() -> None:
    digits = load_digits()
    data = TensorDataset(torch.tensor(digits.data, dtype=torch.float32) / 16, torch.tensor(digits.target))
    train, val = random_split(data, [1400, len(data) - 1400])
    train_loader = DataLoader(train, batch_size=64, shuffle=True)
    val_loader = DataLoader(val, batch_size=100)
    model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    accuracy, f1 = MulticlassAccuracy(num_classes=10, average="micro"), MulticlassF1Score(num_classes=10)
    loss_so_far = MeanMetric()

    for epoch in range(5):
        model.train()
        for x, y in train_loader:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            loss_so_far.update(loss.detach())

        model.eval()
        f1.reset()
        with torch.no_grad():
            for x, y in val_loader:
                answers = model(x).argmax(1)
                accuracy.update(answers, y)
                f1.update(answers, y)
        print(f"epoch {epoch}: loss so far {loss_so_far.compute().item():.3f}")
        print(f"  validation accuracy {accuracy.compute().item():.3f}, F1 {f1.compute().item():.3f}")
        accuracy.reset()


main()
