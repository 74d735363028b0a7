"""Early stopping on a tiny noisy problem: keep the best epoch, report it on test data."""
import torch
import torch.nn as nn
from sklearn.datasets import make_classification
from sklearn.model_selection import train_test_split
from torch.utils.data import DataLoader, TensorDataset


class EarlyStopper:
    def __init__(self, patience):
        self.patience = patience
        self.best = float("inf")
        self.bad = 0
        self.state = None
        self.epoch = -1

    def step(self, value, model, epoch):
        if value < self.best:
            self.best, self.bad, self.epoch = value, 0, epoch
            self.state = {k: v.clone() for k, v in model.state_dict().items()}
        else:
            self.bad += 1
        return self.bad >= self.patience


def split():
    X, y = make_classification(n_samples=900, n_features=40, n_informative=5, flip_y=0.15, class_sep=0.9,
                               random_state=2)
    X = torch.tensor(X, dtype=torch.float32)
    y = torch.tensor(y)
    idx = torch.arange(len(y))
    tr, rest = train_test_split(idx, train_size=200, random_state=0, stratify=y)
    va, te = train_test_split(rest, train_size=350, random_state=0, stratify=y[rest])
    return [(X[i], y[i]) for i in (tr, va, te)]


def metrics(model, x, y):
    model.eval()
    with torch.no_grad():
        out = model(x)
        return nn.functional.cross_entropy(out, y).item(), (out.argmax(1) == y).float().mean().item()


def main():
    torch.manual_seed(0)
    (xtr, ytr), (xva, yva), (xte, yte) = split()
    model = nn.Sequential(nn.Linear(40, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 2))
    opt = torch.optim.Adam(model.parameters(), lr=1e-3)
    loader = DataLoader(TensorDataset(xtr, ytr), batch_size=20, shuffle=True)
    stopper = EarlyStopper(patience=40)
    for epoch in range(60):
        model.train()
        for xb, yb in loader:
            opt.zero_grad()
            loss = nn.functional.cross_entropy(model(xb), yb)
            loss.backward()
            opt.step()
        vl, va = metrics(model, xva, yva)
        if epoch % 10 == 0:
            print(f"epoch {epoch} train {loss.item():.4f} val loss {vl:.4f} val acc {va:.3f}")
        if stopper.step(vl, model, epoch):
            break
    model.load_state_dict(stopper.state)
    vl, va = metrics(model, xva, yva)
    tl, ta = metrics(model, xte, yte)
    print(f"best epoch {stopper.epoch} best val loss {stopper.best:.4f}")
    print(f"restored: val loss {vl:.4f} | test loss {tl:.4f} test acc {ta:.3f}")


if __name__ == "__main__":
    main()
