import numpy as np
import torch
import torch.nn as nn
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import accuracy_score, roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from torch.utils.data import DataLoader, TensorDataset


def loaders(batch_size=32):
    data = load_breast_cancer()
    x_tr, x_te, y_tr, y_te = train_test_split(data.data, data.target, test_size=0.35, random_state=7)
    sc = StandardScaler().fit(x_tr)
    sets = {}
    for name, x, y in (("train", x_tr, y_tr), ("test", x_te, y_te)):
        sets[name] = TensorDataset(torch.tensor(sc.transform(x), dtype=torch.float32), torch.tensor(y, dtype=torch.float32))
    return {
        "train": DataLoader(sets["train"], batch_size=batch_size, shuffle=True),
        "test": DataLoader(sets["test"], batch_size=batch_size, shuffle=True),  # <- PM616
    }


class Classifier(nn.Module):
    def __init__(self, n_in):
        super().__init__()
        self.seq = nn.Sequential(nn.Linear(n_in, 32), nn.ReLU(), nn.Dropout(0.2), nn.Linear(32, 1))

    def forward(self, x):
        return self.seq(x).squeeze(-1)


def predict(model, loader):
    model.eval()
    chunks = []
    with torch.no_grad():
        for x, _ in loader:
            chunks.append(torch.sigmoid(model(x)))
    return torch.cat(chunks).numpy()


def fit(epochs=25):
    torch.manual_seed(0)
    torch.set_num_threads(1)
    dl = loaders()
    truth = dl["test"].dataset.tensors[1].numpy()
    model = Classifier(30)
    opt = torch.optim.Adam(model.parameters(), lr=2e-3)
    bce = nn.BCEWithLogitsLoss()
    for e in range(epochs):
        model.train()
        total = 0.0
        for x, y in dl["train"]:
            opt.zero_grad()
            loss = bce(model(x), y)
            loss.backward()
            opt.step()
            total += loss.item()
        if e % 5 == 4:
            p = predict(model, dl["test"])
            print(f"epoch {e + 1}: train loss {total / len(dl['train']):.3f} test accuracy "
                  f"{accuracy_score(truth, p > 0.5):.3f} auc {roc_auc_score(truth, p):.3f}")


if __name__ == "__main__":
    fit()
