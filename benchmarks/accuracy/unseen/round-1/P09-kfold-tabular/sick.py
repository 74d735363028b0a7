import numpy as np
import torch
import torch.nn as nn
from sklearn.model_selection import KFold

torch.manual_seed(0)
torch.set_num_threads(1)
rng = np.random.default_rng(0)


def cohort(n):
    x = rng.normal(size=(n, 40)).astype(np.float32)
    y = (x[:, 0] + x[:, 1] + rng.normal(0, 1.5, n) > 0).astype(np.int64)
    return torch.from_numpy(x), torch.from_numpy(y)


def make_model():
    return nn.Sequential(nn.Linear(40, 128), nn.ReLU(), nn.Linear(128, 2))


def fit(model, x, y, epochs=15):
    opt = torch.optim.Adam(model.parameters(), lr=3e-3, weight_decay=1e-4)
    for _ in range(epochs):
        for b in torch.randperm(len(x)).split(40):
            loss = nn.functional.cross_entropy(model(x[b]), y[b])
            opt.zero_grad()
            loss.backward()
            opt.step()


def accuracy(model, x, y):
    with torch.no_grad():
        return (model(x).argmax(1) == y).float().mean().item()


x, y = cohort(400)
x_out, y_out = cohort(2000)
scores, outside = [], []
model = make_model()  # <- PM307
for fold, (tr, va) in enumerate(KFold(5, shuffle=True, random_state=0).split(x)):
    fit(model, x[tr], y[tr])
    scores.append(accuracy(model, x[va], y[va]))
    outside.append(accuracy(model, x_out, y_out))
    print(f"fold {fold}: {scores[-1]:.3f}")
print(f"cross-validated accuracy {np.mean(scores):.3f}")
print(f"accuracy on a new cohort {np.mean(outside):.3f}")
