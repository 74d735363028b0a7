"""Ten-fold cross-validation of a small net on iris: ten models, ten optimizers, one line with backward()."""

import numpy as np
import torch
from sklearn.datasets import load_iris
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler
from torch import nn

torch.set_num_threads(1)


def build():
    return nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Dropout(0.1), nn.Linear(32, 3))


def fit(x, y, epochs=5, batch_size=24):
    model = build()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    criterion = nn.CrossEntropyLoss()
    model.train()
    for _ in range(epochs):
        for rows in torch.randperm(len(x)).split(batch_size):
            optimizer.zero_grad()
            loss = criterion(model(x[rows]), y[rows])
            loss.backward()
            optimizer.step()
    return model, loss.item()


def score(model, x, y):
    model.eval()
    with torch.inference_mode():
        return (model(x).argmax(1) == y).float().mean().item()


features, labels = load_iris(return_X_y=True)
torch.manual_seed(0)
results = []
for fold, (train, test) in enumerate(StratifiedKFold(10, shuffle=True, random_state=0).split(features, labels)):
    scaler = StandardScaler().fit(features[train])
    x_train = torch.as_tensor(scaler.transform(features[train]), dtype=torch.float32)
    x_test = torch.as_tensor(scaler.transform(features[test]), dtype=torch.float32)
    y_train, y_test = torch.as_tensor(labels[train]), torch.as_tensor(labels[test])
    model, last = fit(x_train, y_train)
    results.append(score(model, x_test, y_test))
    print(f"fold {fold}: last loss {last!r}, accuracy {results[-1]:.4f}")
print(f"accuracy {np.mean(results):.4f} +- {np.std(results):.4f}")
assert np.mean(results) > 0.88
