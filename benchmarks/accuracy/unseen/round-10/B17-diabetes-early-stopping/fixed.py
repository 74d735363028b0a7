"""Disease-progression regression with patience-based model selection."""
import numpy as np
import torch
from sklearn.datasets import load_diabetes
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from torch import nn


class EarlyStopper:
    """Remembers the weights with the lowest validation loss."""

    def __init__(self, patience):
        self.patience = patience
        self.best_loss = float("inf")
        self.best_epoch = -1
        self.best_weights = None
        self.bad_epochs = 0

    def step(self, epoch, loss, model):
        if loss < self.best_loss:
            self.best_loss, self.best_epoch, self.bad_epochs = loss, epoch, 0
            self.best_weights = {k: v.clone() for k, v in model.state_dict().items()}
        else:
            self.bad_epochs += 1
        return self.bad_epochs >= self.patience

    def restore(self, model):
        model.load_state_dict(self.best_weights)


def prepare(seed):
    x, y = load_diabetes(return_X_y=True)
    xtr, xrest, ytr, yrest = train_test_split(x, y, test_size=0.5, random_state=seed)
    xva, xte, yva, yte = train_test_split(xrest, yrest, test_size=0.5, random_state=seed)
    sx, sy = StandardScaler().fit(xtr), StandardScaler().fit(ytr[:, None])
    def pack(a, b):
        return (torch.tensor(sx.transform(a), dtype=torch.float32),
                torch.tensor(sy.transform(b[:, None]), dtype=torch.float32))
    return pack(xtr, ytr), pack(xva, yva), pack(xte, yte)


def mse(model, data):
    model.eval()
    with torch.no_grad():
        return nn.functional.mse_loss(model(data[0]), data[1]).item()


def fit(model, train, val, epochs=120, batch_size=16, lr=1e-3):
    opt = torch.optim.Adam(model.parameters(), lr=lr)
    stopper = EarlyStopper(patience=60)
    gen = torch.Generator().manual_seed(0)
    for epoch in range(epochs):
        model.train()
        total = 0.0
        for idx in torch.randperm(len(train[0]), generator=gen).split(batch_size):
            loss = nn.functional.mse_loss(model(train[0][idx]), train[1][idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item() * len(idx)
        val_loss = mse(model, val)
        if epoch % 10 == 0:
            print(f"epoch {epoch:3d}  train {total / len(train[0]):.4f}  val {val_loss:.4f}")
        if stopper.step(epoch, val_loss, model):
            break
    stopper.restore(model)
    print(f"restored epoch {stopper.best_epoch} (val {stopper.best_loss:.4f})")
    return model


def main():
    torch.manual_seed(0)
    np.random.seed(0)
    train, val, test = prepare(seed=0)
    model = nn.Sequential(nn.Linear(10, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1))
    fit(model, train, val)
    print(f"validation mse {mse(model, val):.4f}  test mse {mse(model, test):.4f}")


if __name__ == "__main__":
    main()
