"""Train for a while, save everything, and go on in a second job with a warm-up and decay schedule."""

import io

import torch
import torch.nn.functional as F
from torch import nn
from torch.optim.lr_scheduler import LambdaLR

EPOCHS = 16


def rate(epoch: int) -> float:
    return min(1.0, (epoch + 1) / 2) * 0.85**epoch


def job(checkpoint: io.BytesIO | None, last: int) -> io.BytesIO:
    torch.manual_seed(0)
    x = torch.randn(400, 8)
    y = (x[:, :4].sum(1) > 0).long()
    model = nn.Sequential(nn.Linear(8, 24), nn.ReLU(), nn.Linear(24, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.2, momentum=0.9)
    first = 0
    if checkpoint is not None:
        saved = torch.load(checkpoint)
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        first = saved["epoch"]
    scheduler = LambdaLR(optimizer, rate)  # <- PM609
    for epoch in range(first, last):
        for batch in torch.randperm(400).split(40):
            loss = F.cross_entropy(model(x[batch]), y[batch])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        scheduler.step()
        print(f"epoch {epoch} loss {loss.item():.4f} rate {scheduler.get_last_lr()[0]:.4f}")
    saved = io.BytesIO()
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": last}, saved)
    saved.seek(0)
    return saved


if __name__ == "__main__":
    job(job(None, EPOCHS // 2), EPOCHS)
