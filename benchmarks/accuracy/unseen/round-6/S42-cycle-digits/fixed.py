import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from torch.optim.lr_scheduler import OneCycleLR
from torch.utils.data import DataLoader, TensorDataset, random_split


class Config:
    epochs = 6
    batch_size = 32
    max_lr = 0.1
    seed = 17


def build_model():
    return nn.Sequential(nn.Flatten(), nn.Linear(64, 96), nn.ReLU(), nn.Linear(96, 96), nn.ReLU(),
                         nn.Linear(96, 10))


def evaluate(model, loader):
    model.eval()
    good = seen = 0
    with torch.no_grad():
        for xb, yb in loader:
            good += (model(xb).argmax(1) == yb).sum().item()
            seen += len(yb)
    return good / seen


def train(cfg):
    torch.manual_seed(cfg.seed)
    torch.set_num_threads(1)
    d = load_digits()
    x = torch.tensor(d.images, dtype=torch.float32) / 16
    x = x + 0.2 * torch.randn_like(x)
    full = TensorDataset(x, torch.tensor(d.target))
    train_ds, val_ds = random_split(full, [1200, 597])
    train_dl = DataLoader(train_ds, cfg.batch_size, shuffle=True, drop_last=True)
    val_dl = DataLoader(val_ds, 200)
    model = build_model()
    opt = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    sched = OneCycleLR(opt, max_lr=cfg.max_lr, epochs=cfg.epochs, div_factor=1000,
                       steps_per_epoch=len(train_dl))
    for epoch in range(cfg.epochs):
        model.train()
        for xb, yb in train_dl:
            loss = nn.functional.cross_entropy(model(xb), yb)
            opt.zero_grad()
            loss.backward()
            opt.step()
            sched.step()
        print(f"epoch {epoch + 1} lr {sched.get_last_lr()[0]:.5f} loss {loss.item():.4f} val acc {evaluate(model, val_dl):.4f}")


if __name__ == "__main__":
    train(Config())
