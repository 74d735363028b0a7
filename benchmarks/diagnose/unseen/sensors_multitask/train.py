import numpy as np
import pandas as pd
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)

NUMERIC = ["inlet_temp", "outlet_temp", "vibration", "flow", "pressure", "current", "humidity"]
STATES = ["ok", "wear", "leak"]


def load():
    train = pd.read_csv("readings_train.csv")
    valid = pd.read_csv("readings_valid.csv")
    mean, std = train[NUMERIC].mean(), train[NUMERIC].std()
    eff_mean, eff_std = train["efficiency"].mean(), train["efficiency"].std()

    def tensors(df):
        x = torch.tensor(((df[NUMERIC] - mean) / std).to_numpy(), dtype=torch.float32)
        eff = torch.tensor(((df["efficiency"] - eff_mean) / eff_std).to_numpy(), dtype=torch.float32)
        state = torch.tensor(df["state"].map(STATES.index).to_numpy())
        return TensorDataset(x, eff, state)

    return tensors(train), tensors(valid)


class PumpNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(len(NUMERIC), 48), nn.ReLU(), nn.Linear(48, 32), nn.ReLU())
        self.efficiency = nn.Linear(32, 1)
        self.state = nn.Linear(32, len(STATES))

    def forward(self, x):
        h = self.trunk(x)
        return self.efficiency(h).squeeze(1), self.state(h)


class MultiTaskLoss(nn.Module):
    def __init__(self, weight=0.5):
        super().__init__()
        self.weight = weight
        self.mse = nn.MSELoss()
        self.ce = nn.CrossEntropyLoss()

    def forward(self, outputs, eff, state):
        pred_eff, pred_state = outputs
        a, b = self.mse(pred_eff, eff), self.ce(pred_state, state)
        return self.weight * a + (1 - self.weight) * b, a.detach(), b.detach()


def validate(model, loss_fn, loader):
    model.eval()
    se, right, n, total = 0.0, 0, 0, 0.0
    with torch.no_grad():
        for x, eff, state in loader:
            out = model(x)
            total += loss_fn(out, eff, state)[0].item() * len(x)
            se += ((out[0] - eff) ** 2).sum().item()
            right += (out[1].argmax(1) == state).sum().item()
            n += len(x)
    return total / n, 1 - se / n / loader.dataset.tensors[1].var(correction=0).item(), right / n


def main():
    train_set, valid_set = load()
    train_loader = DataLoader(train_set, batch_size=64, shuffle=True)
    valid_loader = DataLoader(valid_set, batch_size=256)
    model, loss_fn = PumpNet(), MultiTaskLoss()
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=1e-3)
    for epoch in range(25):
        model.train()
        sums = np.zeros(3)
        for x, eff, state in train_loader:
            loss, a, b = loss_fn(model(x), eff, state)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            sums += np.array([loss.item(), a.item(), b.item()]) * len(x)
        if (epoch + 1) % 5 == 0:
            t, a, b = sums / len(train_set)
            v, r2, acc = validate(model, loss_fn, valid_loader)
            print(f"epoch {epoch + 1:2d} train {t:.4f} (mse {a:.4f}, ce {b:.4f}) "
                  f"valid {v:.4f} R2 {r2:.4f} state accuracy {acc:.4f}")


if __name__ == "__main__":
    main()
