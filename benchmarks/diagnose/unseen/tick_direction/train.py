"""Up or down on the next bar, from the last 16 bars of returns and volume."""
from pathlib import Path
import numpy as np
import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

WINDOW = 16


def load():
    raw = np.loadtxt(Path(__file__).with_name("bars.csv"), delimiter=",", skiprows=1)
    close, volume = raw[:, 1], raw[:, 2]
    ret = np.diff(np.log(close))
    vol = np.diff(np.log(volume))
    x = np.stack([np.stack([ret[i:i + WINDOW], vol[i:i + WINDOW]]) for i in range(len(ret) - WINDOW)])
    y = (ret[WINDOW:] > 0).astype(np.int64)
    cut = int(len(x) * 0.8)
    mu, sd = x[:cut].mean((0, 2), keepdims=True), x[:cut].std((0, 2), keepdims=True)
    x = torch.from_numpy(((x - mu) / sd).astype(np.float32))
    y = torch.from_numpy(y)
    return TensorDataset(x[:cut], y[:cut]), TensorDataset(x[cut + WINDOW:], y[cut + WINDOW:])


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Sequential(nn.Conv1d(2, 24, 3, padding=1), nn.ReLU(), nn.Conv1d(24, 24, 3, padding=1), nn.ReLU())
        self.fc = nn.Sequential(nn.Flatten(), nn.Linear(24 * WINDOW, 32), nn.ReLU(), nn.Dropout(0.2), nn.Linear(32, 2))

    def forward(self, x):
        return self.fc(self.conv(x))


def main():
    set_seed(9)
    accelerator = Accelerator(cpu=True)
    train, val = load()
    model = Net()
    optim = torch.optim.AdamW(model.parameters(), lr=7e-4, weight_decay=1e-2)
    tl, vl = DataLoader(train, batch_size=64, shuffle=True), DataLoader(val, batch_size=256)
    model, optim, tl, vl = accelerator.prepare(model, optim, tl, vl)
    crit = nn.CrossEntropyLoss()
    for epoch in range(8):
        model.train()
        losses = []
        for x, y in tl:
            loss = crit(model(x), y)
            optim.zero_grad()
            accelerator.backward(loss)
            optim.step()
            losses.append(loss.item())
        model.eval()
        good = total = 0
        with torch.no_grad():
            for x, y in vl:
                p, y = accelerator.gather_for_metrics((model(x).argmax(1), y))
                good += (p == y).sum().item()
                total += len(y)
        accelerator.print(f"epoch {epoch} train_loss {np.mean(losses):.4f} val_accuracy {good / total:.4f}")


if __name__ == "__main__":
    main()
