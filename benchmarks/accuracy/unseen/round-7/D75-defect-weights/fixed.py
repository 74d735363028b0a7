"""Surface defect classifier: 3 defect types, heavily imbalanced, weighted cross-entropy."""
import numpy as np
import torch
import torch.nn as nn
from sklearn.datasets import make_blobs
from sklearn.metrics import recall_score
from sklearn.model_selection import train_test_split
from torch.utils.data import DataLoader, TensorDataset

NAMES = ["ok", "scratch", "dent"]


def load(seed=0):
    X, y = make_blobs(n_samples=[3000, 150, 90], n_features=12, cluster_std=3.6, random_state=seed,
                      centers=np.random.default_rng(seed).normal(0, 2.0, (3, 12)))
    return train_test_split(X.astype(np.float32), y, test_size=0.3, stratify=y, random_state=seed)


class DefectNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(12, 48), nn.ReLU(), nn.Dropout(0.1), nn.Linear(48, 3))

    def forward(self, x):
        return self.layers(x)


def get_class_weights(labels):
    counts = torch.bincount(labels).float()
    weights = counts.sum() / counts
    return weights / weights.mean()


def evaluate(model, x, y):
    model.eval()
    with torch.no_grad():
        pred = model(x).argmax(1)
    return recall_score(y, pred, average=None)


def main():
    torch.manual_seed(0)
    Xtr, Xva, ytr, yva = load()
    mu, sd = Xtr.mean(0), Xtr.std(0)
    Xtr, Xva = torch.tensor((Xtr - mu) / sd), torch.tensor((Xva - mu) / sd)
    ytr = torch.tensor(ytr)
    weights = get_class_weights(ytr)
    print("counts", torch.bincount(ytr).tolist(), "weights", [round(w, 3) for w in weights.tolist()])
    loader = DataLoader(TensorDataset(Xtr, ytr), batch_size=64, shuffle=True)
    model = DefectNet()
    criterion = nn.CrossEntropyLoss(weight=weights)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for epoch in range(12):
        model.train()
        total = 0.0
        for xb, yb in loader:
            optimizer.zero_grad()
            loss = criterion(model(xb), yb)
            loss.backward()
            optimizer.step()
            total += loss.item()
        if epoch % 3 == 2:
            rec = evaluate(model, Xva, yva)
            print(f"epoch {epoch + 1:2d} loss {total / len(loader):.4f} "
                  + " ".join(f"{n}={r:.2f}" for n, r in zip(NAMES, rec)) + f" mean recall {rec.mean():.3f}")


if __name__ == "__main__":
    main()
