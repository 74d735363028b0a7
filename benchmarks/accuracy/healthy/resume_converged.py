"""Go on training from a checkpoint of an earlier job: model, optimizer, scheduler, epoch. There is little left to gain."""

import argparse
import os
import subprocess
import sys

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def data():
    g = torch.Generator().manual_seed(0)
    x = torch.randn(1280, 6, generator=g)
    y = x @ torch.tensor([1.0, -2, 0.5, 0, 1, 3]) + x[:, 0] * x[:, 1] + 0.5 * torch.randn(1280, generator=g)
    return TensorDataset(x, y.unsqueeze(1))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--resume", default="job.ckpt")
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--first-job", action="store_true")
    args = parser.parse_args()
    torch.set_num_threads(1)

    if not args.first_job:  # yesterday's job
        subprocess.run(
            [sys.executable, __file__, "--first-job", "--epochs", "24"], check=True, stdout=subprocess.DEVNULL
        )

    torch.manual_seed(1)
    model = nn.Sequential(nn.Linear(6, 64), nn.ReLU(), nn.Linear(64, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=8, gamma=0.3)
    start = 0
    if not args.first_job and os.path.exists(args.resume):
        checkpoint = torch.load(args.resume, weights_only=True)
        model.load_state_dict(checkpoint["model"])
        optimizer.load_state_dict(checkpoint["optimizer"])
        scheduler.load_state_dict(checkpoint["scheduler"])
        start = checkpoint["epoch"] + 1
        print("resumed at epoch", start, "with lr", scheduler.get_last_lr())

    loader = DataLoader(data(), batch_size=64, shuffle=True)
    criterion = nn.MSELoss()
    for epoch in range(start, args.epochs):
        total = 0.0
        for x, y in loader:
            optimizer.zero_grad()
            loss = criterion(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item()
        scheduler.step()
        print(epoch, total / len(loader), scheduler.get_last_lr()[0])
    torch.save(
        {
            "model": model.state_dict(),
            "optimizer": optimizer.state_dict(),
            "scheduler": scheduler.state_dict(),
            "epoch": epoch,
        },
        args.resume,
    )
    assert total / len(loader) < 0.4
    if not args.first_job:
        os.remove(args.resume)


if __name__ == "__main__":
    main()
