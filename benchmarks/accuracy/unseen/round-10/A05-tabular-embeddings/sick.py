"""Sales regression on mixed categorical/numeric columns with entity embeddings; the best weights are exported and scored."""
import os
import tempfile

import numpy as np
import pandas as pd
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

CAT_COLS = {"store": 60, "product": 80, "region": 12}
NUM_COLS = ["price", "discount", "footfall"]


def build_frame(n=6000, seed=5):
    rng = np.random.default_rng(seed)
    effects = {c: rng.normal(0, 1, k) for c, k in CAT_COLS.items()}
    df = pd.DataFrame({c: rng.integers(0, k, n) for c, k in CAT_COLS.items()})
    for c in NUM_COLS:
        df[c] = rng.normal(0, 1, n)
    y = sum(effects[c][df[c].to_numpy()] for c in CAT_COLS)
    y = y - 0.7 * df["price"] + 0.5 * df["discount"] * (df["footfall"] > 0) + rng.normal(0, 0.2, n)
    df["sales"] = (y - y.mean()) / y.std()
    return df


class SalesDataset(Dataset):
    def __init__(self, df):
        self.cats = torch.tensor(df[list(CAT_COLS)].to_numpy().copy(), dtype=torch.long)
        self.nums = torch.tensor(df[NUM_COLS].to_numpy().copy(), dtype=torch.float32)
        self.y = torch.tensor(df["sales"].to_numpy().copy(), dtype=torch.float32)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return self.cats[i], self.nums[i], self.y[i]


class EntityNet(nn.Module):
    def __init__(self, cardinalities, n_num, dim=6, width=96):
        super().__init__()
        self.columns = list(cardinalities)
        self.embeddings = {c: nn.Embedding(k, dim) for c, k in cardinalities.items()}
        self.mlp = nn.Sequential(
            nn.Linear(dim * len(cardinalities) + n_num, width), nn.ReLU(),
            nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 1))

    def forward(self, cats, nums):
        parts = [self.embeddings[c](cats[:, i]) for i, c in enumerate(self.columns)]
        return self.mlp(torch.cat(parts + [nums], dim=1)).squeeze(1)


@torch.no_grad()
def rmse(model, loader):
    model.eval()
    se = n = 0
    for cats, nums, y in loader:
        se += ((model(cats, nums) - y) ** 2).sum().item()
        n += len(y)
    return (se / n) ** 0.5


def fit(model, train, val, path, epochs=15):
    opt = torch.optim.Adam(model.parameters(), lr=3e-3, weight_decay=1e-5)
    best = float("inf")
    for epoch in range(epochs):
        model.train()
        for cats, nums, y in train:
            opt.zero_grad()
            loss = nn.functional.mse_loss(model(cats, nums), y)
            loss.backward()
            opt.step()
        score = rmse(model, val)
        if score < best:
            best = score
            torch.save(model.state_dict(), path)
        print(f"epoch {epoch:2d} last batch loss {loss.item():.4f} val rmse {score:.4f}")
    return best


def main():
    torch.manual_seed(5)
    df = build_frame()
    train = DataLoader(SalesDataset(df.iloc[:4200]), batch_size=64, shuffle=True)
    val = DataLoader(SalesDataset(df.iloc[4200:5100]), batch_size=300)
    test = DataLoader(SalesDataset(df.iloc[5100:]), batch_size=300)
    with tempfile.TemporaryDirectory() as tmp:
        path = os.path.join(tmp, "best.pt")
        best = fit(EntityNet(CAT_COLS, len(NUM_COLS)), train, val, path)
        scorer = EntityNet(CAT_COLS, len(NUM_COLS))
        scorer.load_state_dict(torch.load(path))
        print(f"best val rmse {best:.4f}  test rmse of exported model {rmse(scorer, test):.4f}")


if __name__ == "__main__":
    main()
