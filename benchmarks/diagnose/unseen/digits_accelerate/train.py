import torch
import torch.nn as nn
from accelerate import Accelerator
from accelerate.utils import set_seed
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch.utils.data import DataLoader, TensorDataset

CFG = {"seed": 4, "batch_size": 32, "epochs": 15, "lr": 2e-3, "decay": 0.9}


class SmallCNN(nn.Module):
    def __init__(self, classes=10):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.AdaptiveAvgPool2d(1),
        )
        self.classifier = nn.Sequential(nn.Flatten(), nn.Dropout(0.1), nn.Linear(32, classes))

    def forward(self, x):
        return self.classifier(self.features(x))


def get_loaders(batch_size, seed):
    digits = load_digits()
    x = torch.tensor(digits.images, dtype=torch.float32).unsqueeze(1)
    y = torch.tensor(digits.target)
    tr, va = train_test_split(range(len(y)), test_size=0.2, stratify=digits.target, random_state=seed)
    mean, std = x[tr].mean(), x[tr].std()
    x = (x - mean) / std
    return (DataLoader(TensorDataset(x[tr], y[tr]), batch_size=batch_size, shuffle=True),
            DataLoader(TensorDataset(x[va], y[va]), batch_size=128))


def evaluate(model, loader, accelerator):
    model.eval()
    loss_sum, correct, count = 0.0, 0, 0
    with torch.no_grad():
        for x, y in loader:
            logits = model(x)
            logits, y = accelerator.gather_for_metrics((logits, y))
            loss_sum += nn.functional.cross_entropy(logits, y, reduction="sum").item()
            correct += (logits.argmax(-1) == y).sum().item()
            count += len(y)
    return loss_sum / count, correct / count


def main():
    set_seed(CFG["seed"])
    accelerator = Accelerator(cpu=True)
    train_loader, val_loader = get_loaders(CFG["batch_size"], CFG["seed"])
    model = SmallCNN()
    optimizer = torch.optim.AdamW(model.parameters(), lr=CFG["lr"], weight_decay=1e-2)
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=CFG["decay"])
    model, optimizer, train_loader, val_loader, scheduler = accelerator.prepare(
        model, optimizer, train_loader, val_loader, scheduler)

    for epoch in range(CFG["epochs"]):
        model.train()
        total, count = 0.0, 0
        for x, y in train_loader:
            with accelerator.accumulate(model):
                loss = nn.functional.cross_entropy(model(x), y)
                accelerator.backward(loss)
                optimizer.step()
                scheduler.step()
                optimizer.zero_grad()
            total += loss.item() * len(y)
            count += len(y)
        val_loss, val_acc = evaluate(model, val_loader, accelerator)
        accelerator.print(f"epoch {epoch:2d} | train {total / count:.4f} | val {val_loss:.4f} | acc {val_acc:.4f}")


if __name__ == "__main__":
    main()
