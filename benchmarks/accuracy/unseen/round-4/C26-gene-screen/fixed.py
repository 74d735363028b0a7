import numpy as np
import torch
import torch.nn as nn
from sklearn.feature_selection import f_classif
from sklearn.model_selection import KFold

GENES, PATIENTS, KEEP = 4000, 120, 40


def cohort(rng, n):
    """Expression levels of many genes; a handful have a little to do with the response."""
    y = rng.integers(0, 2, n)
    x = rng.standard_normal((n, GENES)).astype(np.float32)
    x[:, :3] += 0.8 * (2 * y[:, None] - 1)
    return x, y


def strongest(x, y):
    scores, _ = f_classif(x, y)
    return np.argsort(scores)[-KEEP:]


def fit(x, y, epochs=30):
    model = nn.Sequential(nn.Linear(x.shape[1], 16), nn.Tanh(), nn.Linear(16, 1))
    opt = torch.optim.Adam(model.parameters(), lr=5e-3, weight_decay=1e-2)
    x, t = torch.from_numpy(x), torch.from_numpy(y).float()
    for _ in range(epochs):
        for idx in torch.randperm(len(x)).split(16):
            loss = nn.functional.binary_cross_entropy_with_logits(model(x[idx]).squeeze(1), t[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
    return model.eval()


def accuracy(model, x, y):
    with torch.no_grad():
        return ((model(torch.from_numpy(x)).squeeze(1) > 0).numpy() == y).mean()


def main():
    torch.manual_seed(14)
    torch.set_num_threads(1)
    rng = np.random.default_rng(14)
    x, y = cohort(rng, PATIENTS)
    new_x, new_y = cohort(rng, 1000)
    folds, fresh = [], []
    for k, (tr, va) in enumerate(KFold(5, shuffle=True, random_state=0).split(x)):
        genes = strongest(x[tr], y[tr])
        model = fit(x[tr][:, genes], y[tr])
        folds.append(accuracy(model, x[va][:, genes], y[va]))
        fresh.append(accuracy(model, new_x[:, genes], new_y))
        print(f"fold {k} validation accuracy {folds[-1]:.3f}")
    print(f"cross-validated accuracy {np.mean(folds):.3f}, on a new cohort {np.mean(fresh):.3f}")


if __name__ == "__main__":
    main()
