"""Train, save a checkpoint half way, and resume from it."""
import math
import os
import tempfile

import torch
from sklearn.datasets import load_wine
from torch import nn
from torch.optim import lr_scheduler

torch.set_num_threads(1)
EPOCHS, HALF = 40, 20
HYP = {"lr0": 0.1, "momentum": 0.9, "weight_decay": 5e-4}


def load_data():
    wine = load_wine()
    x = torch.tensor((wine.data - wine.data.mean(0)) / wine.data.std(0), dtype=torch.float32)
    return x, torch.tensor(wine.target)


def build():
    model = nn.Sequential(nn.Linear(13, 24), nn.SiLU(), nn.Linear(24, 3))
    optimizer = torch.optim.SGD(model.parameters(), lr=HYP["lr0"], momentum=HYP["momentum"], weight_decay=HYP["weight_decay"])
    return model, optimizer


def cosine(epoch):
    return 0.5 * (1 + math.cos(epoch * math.pi / EPOCHS)) * 0.98 + 0.02


def train(weights=None, stop=EPOCHS):
    x, y = load_data()
    model, optimizer = build()
    start_epoch = 0
    if weights:
        ckpt = torch.load(weights)
        model.load_state_dict(ckpt["model"])
        optimizer.load_state_dict(ckpt["optimizer"])
        start_epoch = ckpt["epoch"] + 1
    scheduler = lr_scheduler.LambdaLR(optimizer, lr_lambda=cosine)  # <- PM609
    scheduler.last_epoch = start_epoch - 1

    for epoch in range(start_epoch, stop):
        model.train()
        lr = optimizer.param_groups[0]["lr"]
        for idx in torch.randperm(len(x)).split(32):
            loss = nn.functional.cross_entropy(model(x[idx]), y[idx])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        scheduler.step()
        if epoch % 5 == 0 or epoch == start_epoch:
            print(f"epoch {epoch} lr {lr:.4f} loss {loss.item():.4f}")
    return {"epoch": epoch, "model": model.state_dict(), "optimizer": optimizer.state_dict(),
            "scheduler": scheduler.state_dict()}


if __name__ == "__main__":
    torch.manual_seed(0)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "last.pt")
        torch.save(train(stop=HALF), path)
        print("resuming")
        train(weights=path)
