"""Wine cultivar classifier with a rare class and balanced batches."""
import argparse

import numpy as np
import torch
import torch.nn as nn
from sklearn.datasets import load_wine
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler


def get_args():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=60)
    p.add_argument("--batch-size", type=int, default=16)
    p.add_argument("--lr", type=float, default=2e-3)
    p.add_argument("--seed", type=int, default=3)
    return p.parse_args()


def load(seed):
    X, y = load_wine(return_X_y=True)
    rng = np.random.default_rng(seed)
    drop = rng.choice(np.where(y == 2)[0], size=24, replace=False)
    keep = np.setdiff1d(np.arange(len(y)), drop)
    X, y = X[keep], y[keep]
    Xtr, Xte, ytr, yte = train_test_split(X, y, test_size=0.3, stratify=y, random_state=seed)
    sc = StandardScaler().fit(Xtr)
    return sc.transform(Xtr), sc.transform(Xte), ytr, yte


def main():
    args = get_args()
    torch.manual_seed(args.seed)
    Xtr, Xte, ytr, yte = load(args.seed)
    train = TensorDataset(torch.tensor(Xtr, dtype=torch.float32), torch.tensor(ytr))
    test_x = torch.tensor(Xte, dtype=torch.float32)

    counts = np.bincount(ytr)
    print("class counts:", counts)
    class_weights = 1.0 / torch.tensor(counts, dtype=torch.double)
    sampler = WeightedRandomSampler(class_weights[train.tensors[1]], num_samples=len(train), replacement=True)
    loader = DataLoader(train, batch_size=args.batch_size, sampler=sampler)

    model = nn.Sequential(nn.Linear(13, 32), nn.ReLU(), nn.Linear(32, 3))
    opt = torch.optim.Adam(model.parameters(), lr=args.lr)
    loss_fn = nn.CrossEntropyLoss()

    for epoch in range(args.epochs):
        model.train()
        running = 0.0
        for xb, yb in loader:
            opt.zero_grad()
            loss = loss_fn(model(xb), yb)
            loss.backward()
            opt.step()
            running += loss.item() * len(xb)
        if epoch % 10 == 9:
            model.eval()
            with torch.no_grad():
                pred = model(test_x).argmax(1).numpy()
            print(f"epoch {epoch + 1:3d} train loss {running / len(train):.4f} "
                  f"balanced acc {balanced_accuracy_score(yte, pred):.3f}")


if __name__ == "__main__":
    main()
