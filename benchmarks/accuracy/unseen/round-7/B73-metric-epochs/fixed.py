"""Accelerate loop with torchmetrics on the digits images."""
import torch
import torch.nn as nn
from accelerate import Accelerator
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch.utils.data import DataLoader, TensorDataset
from torchmetrics.classification import MulticlassAccuracy, MulticlassF1Score


def loaders(batch_size):
    d = load_digits()
    x = torch.tensor(d.images, dtype=torch.float32)[:, None] / 16
    y = torch.tensor(d.target)
    tr, va = train_test_split(torch.arange(len(y)), test_size=0.3, random_state=0, stratify=y)
    return (DataLoader(TensorDataset(x[tr], y[tr]), batch_size=batch_size, shuffle=True),
            DataLoader(TensorDataset(x[va], y[va]), batch_size=128))


class Small(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
                                 nn.Conv2d(8, 16, 3, padding=1), nn.ReLU(), nn.Flatten(), nn.Linear(256, 10))

    def forward(self, x):
        return self.net(x)


def main():
    torch.manual_seed(9)
    accelerator = Accelerator(cpu=True)
    train_dl, val_dl = loaders(64)
    model = Small()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    model, optimizer, train_dl, val_dl = accelerator.prepare(model, optimizer, train_dl, val_dl)
    acc = MulticlassAccuracy(num_classes=10, average="micro")
    f1 = MulticlassF1Score(num_classes=10)
    history = []

    for epoch in range(12):
        model.train()
        for x, y in train_dl:
            loss = nn.functional.cross_entropy(model(x), y)
            accelerator.backward(loss)
            optimizer.step()
            optimizer.zero_grad()

        model.eval()
        acc.reset()
        f1.reset()
        for x, y in val_dl:
            with torch.no_grad():
                logits = model(x)
            preds, refs = accelerator.gather_for_metrics((logits.argmax(-1), y))
            acc.update(preds, refs)
            f1.update(preds, refs)
        scores = {"acc": acc.compute().item(), "f1": f1.compute().item()}
        history.append(scores)
        accelerator.print(f"epoch {epoch:2d} loss {loss.item():.4f} "
                          f"val acc {scores['acc']:.4f} val f1 {scores['f1']:.4f}")

    accelerator.print("final:", {k: round(v, 4) for k, v in history[-1].items()})


if __name__ == "__main__":
    main()
