"""Warm restarts plus weight averaging: the learning rate jumps back up by design, and the averaged model gets fresh BatchNorm statistics before it is used."""
import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn
from torch.optim.lr_scheduler import CosineAnnealingWarmRestarts
from torch.optim.swa_utils import AveragedModel, update_bn
from torch.utils.data import DataLoader, TensorDataset

CYCLE, CYCLES = 4, 4


def net(width=96):
    return nn.Sequential(
        nn.Linear(64, width), nn.BatchNorm1d(width), nn.ReLU(),
        nn.Linear(width, width), nn.BatchNorm1d(width), nn.ReLU(), nn.Linear(width, 10))


def loaders():
    x, y = load_digits(return_X_y=True)
    xt, xv, yt, yv = train_test_split(x / 16.0, y, test_size=0.25, stratify=y, random_state=3)
    pack = lambda a, b: TensorDataset(torch.tensor(a, dtype=torch.float32), torch.tensor(b))
    return (DataLoader(pack(xt, yt), batch_size=64, shuffle=True, drop_last=True), DataLoader(pack(xv, yv), batch_size=225))


@torch.no_grad()
def score(model, loader):
    model.eval()
    loss = hits = n = 0
    for x, y in loader:
        out = model(x)
        loss += nn.functional.cross_entropy(out, y, reduction="sum").item()
        hits += (out.argmax(1) == y).sum().item()
        n += len(y)
    return loss / n, hits / n


def main():
    torch.manual_seed(3)
    train, val = loaders()
    model = net()
    averaged = AveragedModel(model)
    opt = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=5e-4)
    sched = CosineAnnealingWarmRestarts(opt, T_0=CYCLE * len(train), eta_min=1e-3)
    for epoch in range(CYCLE * CYCLES):
        model.train()
        total = steps = 0
        for x, y in train:
            loss = nn.functional.cross_entropy(model(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            sched.step()
            total += loss.item()
            steps += 1
        if (epoch + 1) % CYCLE == 0:
            averaged.update_parameters(model)
        val_loss, acc = score(model, val)
        print(f"epoch {epoch:2d} loss {total / steps:.4f} val {val_loss:.4f} acc {acc:.4f}")
    update_bn(train, averaged)
    val_loss, acc = score(averaged, val)
    print(f"average of {CYCLES} cycle ends: val {val_loss:.4f} acc {acc:.4f}")


if __name__ == "__main__":
    main()
