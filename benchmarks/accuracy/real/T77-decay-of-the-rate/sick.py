"""Leaf-disease classifier; hyper-parameters come from a dictionary."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

config = {"lr": 0.05, "lr_decay": 0.9, "momentum": 0.9, "epochs": 12, "batch": 64}


def dataset(n, seed):
    g = torch.Generator().manual_seed(seed)
    kind = torch.randint(0, 5, (n,), generator=g)
    base = torch.randn(5, 3, 8, 8, generator=torch.Generator().manual_seed(0))
    return TensorDataset(0.6 * base[kind] + torch.randn(n, 3, 8, 8, generator=g), kind)


def network():
    return nn.Sequential(
        nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(32 * 4, 64), nn.ReLU(), nn.Linear(64, 5),
    )


def run():
    torch.manual_seed(8)
    train_loader = DataLoader(dataset(1280, 1), batch_size=config["batch"], shuffle=True)
    valid_loader = DataLoader(dataset(320, 2), batch_size=160)
    net = network()
    optimizer = torch.optim.SGD(net.parameters(), lr=config["lr"], momentum=config["momentum"], weight_decay=config["lr_decay"])  # <- PM217
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=config["lr_decay"])
    for epoch in range(config["epochs"]):
        net.train()
        running = 0.0
        for images, kinds in train_loader:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(net(images), kinds)
            loss.backward()
            optimizer.step()
            running += loss.item()
        scheduler.step()
        net.eval()
        with torch.no_grad():
            hits = sum((net(images).argmax(1) == kinds).sum().item() for images, kinds in valid_loader)
        print(epoch, f"{running / len(train_loader):.3f}", f"{hits / 320:.3f}")


run()
