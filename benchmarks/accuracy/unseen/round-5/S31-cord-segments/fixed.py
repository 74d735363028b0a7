import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from torch.optim.lr_scheduler import StepLR
from torch.utils.data import DataLoader, TensorDataset

context = {
    "seed": 44,
    "batch_size": 24,
    "num_epochs": 12,
    "initial_lr": 0.05,
    "lr_scheduler": {"step_size": 4, "gamma": 0.3},
}


def cmd_train(context):
    torch.manual_seed(44)
    torch.set_num_threads(1)
    x, y = load_digits(return_X_y=True)
    x, y = torch.tensor(x, dtype=torch.float32).view(-1, 1, 8, 8) / 8 - 1, torch.tensor(y)
    ds_train, ds_val = TensorDataset(x[:1300], y[:1300]), TensorDataset(x[1300:], y[1300:])
    train_loader = DataLoader(ds_train, batch_size=context["batch_size"], shuffle=True)
    val_loader = DataLoader(ds_val, batch_size=100)

    model = nn.Sequential(
        nn.Conv2d(1, 12, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(12, 24, 3, padding=1), nn.ReLU(), nn.Flatten(), nn.Linear(24 * 16, 10),
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=context["initial_lr"])
    scheduler = StepLR(optimizer, **context["lr_scheduler"])
    criterion = nn.CrossEntropyLoss()

    for epoch in range(1, context["num_epochs"] + 1):
        model.train()
        train_loss = 0.0
        for batch, labels in train_loader:
            preds = model(batch)
            loss = criterion(preds, labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            train_loss += loss.item()
        scheduler.step()

        model.eval()
        with torch.no_grad():
            correct = sum((model(b).argmax(1) == t).sum().item() for b, t in val_loader)
        print(f"epoch {epoch}: training loss {train_loss / len(train_loader):.4f}, validation accuracy {correct / len(ds_val):.4f}")


if __name__ == "__main__":
    cmd_train(context)
