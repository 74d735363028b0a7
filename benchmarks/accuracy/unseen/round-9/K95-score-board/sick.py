"""Wine-style table (synthetic, three grades); metrics live in small meter objects shared by the phases."""
import numpy as np
import torch
import torch.nn as nn
from sklearn.datasets import make_classification
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from torch.utils.data import DataLoader, TensorDataset


class Meter:
    def __init__(self):
        self.reset()

    def reset(self):
        self.total, self.count = 0.0, 0

    def add(self, value, n):
        self.total += float(value) * n
        self.count += n

    @property
    def value(self):
        return self.total / max(self.count, 1)


class Board:
    """loss and accuracy of one phase"""

    def __init__(self, name):
        self.name, self.loss, self.acc = name, Meter(), Meter()

    def start(self):
        self.loss.reset()
        self.acc.reset()

    def update(self, loss, logits, y):
        self.loss.add(loss.item(), len(y))
        self.acc.add((logits.argmax(1) == y).float().mean(), len(y))

    def __str__(self):
        return f"{self.name} loss {self.loss.value:.4f} acc {self.acc.value:.4f}"


class Loop:
    def __init__(self, model, lr):
        self.model = model
        self.crit = nn.CrossEntropyLoss()
        self.opt = torch.optim.Adam(model.parameters(), lr=lr)
        self.boards = {"train": Board("train"), "valid": Board("valid")}

    def phase(self, name, loader):
        board, training = self.boards[name], name == "train"
        self.model.train(training)
        with torch.set_grad_enabled(training):
            for x, y in loader:
                logits = self.model(x)
                loss = self.crit(logits, y)
                if training:
                    self.opt.zero_grad()
                    loss.backward()
                    self.opt.step()
                board.update(loss, logits, y)
        return board

    def run(self, train, valid, epochs, patience):
        best, waited = float("inf"), 0
        for epoch in range(epochs):
            tb, vb = self.phase("train", train), self.phase("valid", valid)
            print(f"epoch {epoch:2d} | {tb} | {vb}")
            if vb.loss.value < best:
                best, waited = vb.loss.value, 0
                state = {k: v.clone() for k, v in self.model.state_dict().items()}
            else:
                waited += 1
            if waited > patience:
                break
        self.model.load_state_dict(state)
        return self.phase("valid", valid).acc.value


def data(seed):
    x, y = make_classification(1500, 16, n_informative=8, n_classes=3, n_clusters_per_class=2, class_sep=1.2,
                               flip_y=0.02, random_state=seed)
    xt, xv, yt, yv = train_test_split(x, y, test_size=0.4, stratify=y, random_state=seed)
    sc = StandardScaler().fit(xt)
    t = lambda a, b: TensorDataset(torch.tensor(sc.transform(a), dtype=torch.float32), torch.tensor(b))
    return DataLoader(t(xt, yt), 32, shuffle=True), DataLoader(t(xv, yv), 256)


def main():
    torch.manual_seed(3)
    np.random.seed(3)
    train, valid = data(3)
    model = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Dropout(0.2), nn.Linear(64, 64), nn.ReLU(),
                          nn.Dropout(0.2), nn.Linear(64, 3))
    final = Loop(model, lr=1e-3).run(train, valid, epochs=15, patience=4)
    print(f"validation accuracy {final:.4f}")


if __name__ == "__main__":
    main()
