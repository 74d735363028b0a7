"""Judge frozen audio embeddings by a small probe trained on top of them."""
import numpy as np
import torch
from sklearn.preprocessing import StandardScaler
from torch import nn

CLASSES, DIM = 8, 40


def embeddings(n, rng, centres, gain, offset):
    y = rng.integers(0, CLASSES, n)
    raw = centres[y] + rng.normal(0, 1.3, (n, DIM))
    return (raw * gain + offset).astype(np.float32), y


class TorchProbe:
    def __init__(self, hidden=64, lr=2e-3, epochs=18, batch_size=64):
        self.net = nn.Sequential(nn.Linear(DIM, hidden), nn.ReLU(), nn.Linear(hidden, CLASSES))
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=lr)
        self.epochs, self.batch_size = epochs, batch_size

    def fit(self, X, y, X_val, y_val):
        X, y = torch.from_numpy(X), torch.from_numpy(y)
        for epoch in range(self.epochs):
            self.net.train()
            for rows in torch.randperm(len(X)).split(self.batch_size):
                loss = nn.functional.cross_entropy(self.net(X[rows]), y[rows])
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
            val_loss, val_acc = self.score(X_val, y_val)
            if epoch % 3 == 2:
                print(f"epoch {epoch + 1} loss {loss.item():.3f} val loss {val_loss:.3f} val acc {val_acc:.3f}")

    def score(self, X, y):
        self.net.eval()
        with torch.no_grad():
            out, y = self.net(torch.from_numpy(X)), torch.from_numpy(y)
            return nn.functional.cross_entropy(out, y).item(), (out.argmax(1) == y).float().mean().item()


def evaluate():
    torch.manual_seed(130)
    torch.set_num_threads(1)
    rng = np.random.default_rng(130)
    centres, gain, offset = rng.normal(size=(CLASSES, DIM)), rng.uniform(0.2, 4, DIM), rng.normal(0, 4, DIM)
    X_train, y_train = embeddings(4000, rng, centres, gain, offset)
    X_val, y_val = embeddings(800, rng, centres, gain, offset)
    X_test, y_test = embeddings(800, rng, centres, gain, offset)
    scaler = StandardScaler()
    X_train = scaler.fit_transform(X_train)
    X_val = scaler.transform(X_val)
    X_test = scaler.transform(X_test)
    probe = TorchProbe()
    probe.fit(X_train, y_train, X_val, y_val)
    print(f"test accuracy {probe.score(X_test, y_test)[1]:.3f}")


if __name__ == "__main__":
    evaluate()
