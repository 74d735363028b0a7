"""Segment-type classification with a step-wise learning-rate schedule."""
import torch
from torch import nn
from torch.optim.lr_scheduler import StepLR
from torch.utils.data import DataLoader, TensorDataset

CONFIG = {"epochs": 16, "batch_size": 32, "lr": 0.1, "scheduler": {"step_size": 10, "gamma": 0.1}}


def blobs(n, n_classes=10, dim=20, seed=0):
    g = torch.Generator().manual_seed(seed)
    centers = 1.2 * torch.randn(n_classes, dim, generator=torch.Generator().manual_seed(99))
    y = torch.randint(n_classes, (n,), generator=g)
    return TensorDataset(centers[y] + torch.randn(n, dim, generator=g), y)


def cmd_train(config):
    train_loader = DataLoader(blobs(1024, seed=1), batch_size=config["batch_size"], shuffle=True)
    val_loader = DataLoader(blobs(400, seed=2), batch_size=200)
    model = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=config["lr"])
    scheduler = StepLR(optimizer, **config["scheduler"])
    loss_fct = nn.CrossEntropyLoss()

    for epoch in range(1, config["epochs"] + 1):
        model.train()
        train_loss_total, num_steps = 0.0, 0
        for inputs, gts in train_loader:
            loss = loss_fct(model(inputs), gts)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            scheduler.step()  # <- PM608
            num_steps += 1
            train_loss_total += loss.item()

        model.eval()
        with torch.no_grad():
            hits = sum((model(x).argmax(1) == y).sum().item() for x, y in val_loader)
        if epoch % 4 == 0:
            print(f"epoch {epoch} train loss {train_loss_total / num_steps:.4f} val acc {hits / 400:.3f} "
                  f"lr {optimizer.param_groups[0]['lr']:.2e}")


if __name__ == "__main__":
    torch.set_num_threads(1)
    torch.manual_seed(0)
    cmd_train(CONFIG)
