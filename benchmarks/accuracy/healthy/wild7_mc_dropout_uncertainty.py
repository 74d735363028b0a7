"""Regression with Monte-Carlo dropout: dropout stays on at prediction time to get error bars."""
import torch
import torch.nn as nn
from sklearn.datasets import load_diabetes
from sklearn.model_selection import train_test_split
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(10, 64), nn.ReLU(), nn.Dropout(0.2), nn.Linear(64, 64), nn.ReLU(),
                                  nn.Dropout(0.2), nn.Linear(64, 1))

    def forward(self, x):
        return self.body(x).squeeze(-1)


def enable_mc_dropout(model):
    model.eval()
    for m in model.modules():
        if isinstance(m, nn.Dropout):
            m.train()


@torch.no_grad()
def mc_predict(model, x, samples=40):
    enable_mc_dropout(model)
    draws = torch.stack([model(x) for _ in range(samples)])
    return draws.mean(0), draws.std(0)


def main():
    torch.manual_seed(0)
    X, y = load_diabetes(return_X_y=True)
    Xtr, Xte, ytr, yte = train_test_split(X, y, test_size=0.25, random_state=0)
    mx, sx, my, sy = Xtr.mean(0), Xtr.std(0), ytr.mean(), ytr.std()
    f = lambda a: torch.tensor(a, dtype=torch.float32)
    xtr, xte = f((Xtr - mx) / sx), f((Xte - mx) / sx)
    ytr, yte = f((ytr - my) / sy), f((yte - my) / sy)
    model = Net()
    opt = torch.optim.Adam(model.parameters(), lr=2e-3, weight_decay=1e-4)
    for epoch in range(15):
        model.train()
        total = 0.0
        loader = DataLoader(TensorDataset(xtr, ytr), 32, shuffle=True)
        for xb, yb in loader:
            loss = nn.functional.mse_loss(model(xb), yb)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
        if epoch % 5 == 4:
            mean, std = mc_predict(model, xte)
            r2 = 1 - (mean - yte).pow(2).mean() / yte.var(unbiased=False)
            print(f"epoch {epoch + 1} train mse {total / len(loader):.3f} test R2 {r2:.3f} mean sigma {std.mean():.3f}")


if __name__ == "__main__":
    main()
