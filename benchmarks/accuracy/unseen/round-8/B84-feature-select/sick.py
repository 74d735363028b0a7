"""Gene-expression style data: many features, few samples."""
import argparse

import numpy as np
import torch
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.model_selection import train_test_split
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def expression_matrix(n, genes, informative, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    x = rng.standard_normal((n, genes)).astype(np.float32)
    x[:, :informative] += 0.95 * (2 * y[:, None] - 1)
    x = x[:, rng.permutation(genes)]
    return np.exp(0.5 * x), y


def build_model(k, p):
    return nn.Sequential(nn.Dropout(p), nn.Linear(k, 16), nn.ReLU(), nn.Linear(16, 1))


def fit(model, loader, epochs, lr):
    opt = torch.optim.AdamW(model.parameters(), lr=lr, weight_decay=0.05)
    for epoch in range(epochs):
        model.train()
        total = 0.0
        for x, y in loader:
            loss = nn.functional.binary_cross_entropy_with_logits(model(x).squeeze(1), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
        yield epoch, total / len(loader)


@torch.no_grad()
def accuracy(model, x, y):
    model.eval()
    return ((model(x).squeeze(1) > 0).float() == y).float().mean().item()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--k", type=int, default=20)
    ap.add_argument("--epochs", type=int, default=30)
    ap.add_argument("--repeats", type=int, default=5)
    args = ap.parse_args()

    scores = []
    for repeat in range(args.repeats):
        torch.manual_seed(repeat)
        x, y = expression_matrix(300, 4000, informative=3, seed=repeat)
        x = np.log(x)
        x = SelectKBest(f_classif, k=args.k).fit_transform(x, y)
        x_tr, x_va, y_tr, y_va = train_test_split(x, y, test_size=0.3, stratify=y, random_state=repeat)
        mean, std = x_tr.mean(0), x_tr.std(0)
        x_tr = torch.from_numpy((x_tr - mean) / std)
        x_va = torch.from_numpy((x_va - mean) / std)
        y_tr = torch.tensor(y_tr, dtype=torch.float32)
        y_va = torch.tensor(y_va, dtype=torch.float32)

        model = build_model(args.k, p=0.4)
        loader = DataLoader(TensorDataset(x_tr, y_tr), batch_size=24, shuffle=True)
        for epoch, loss in fit(model, loader, args.epochs, lr=2e-3):
            if epoch % 10 == 9:
                print(f"repeat {repeat} epoch {epoch + 1} loss {loss:.4f} val acc {accuracy(model, x_va, y_va):.3f}")
        scores.append(accuracy(model, x_va, y_va))
    print(f"validation accuracy {np.mean(scores):.3f} +- {np.std(scores):.3f} over {args.repeats} splits")


if __name__ == "__main__":
    main()
