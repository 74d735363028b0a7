# demand regression for a retail chain: categorical embeddings + numeric features
import numpy as np
import pandas as pd
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

CAT = ["store", "brand", "promo_type", "supplier", "region", "shelf"]
NUM = ["price", "temp", "week_sin", "week_cos"]
CARD = 40


def make_frame(n=5000, seed=11):
    rng = np.random.default_rng(seed)
    df = pd.DataFrame({c: rng.integers(0, CARD, n) for c in CAT})
    week = rng.integers(0, 52, n)
    df["price"] = rng.lognormal(1.0, 0.3, n)
    df["temp"] = 12 + 9 * np.sin(week / 52 * 6.28) + rng.normal(0, 3, n)
    df["week_sin"], df["week_cos"] = np.sin(week / 52 * 6.28), np.cos(week / 52 * 6.28)
    y = -1.2 * np.log(df.price) + 0.03 * df.temp
    for c in CAT:
        effect = rng.normal(0, 0.7, CARD)
        y = y + effect[df[c]]
    elasticity = rng.normal(0, 0.5, CARD)
    y = y + elasticity[df["brand"]] * (np.log(df.price) - 1)
    df["units"] = np.exp(y + 3 + rng.normal(0, 0.15, n))
    return df


class DemandNet(nn.Module):
    def __init__(self, cards, emb_dim, n_num, hidden=64, p=0.0):
        super().__init__()
        self.embeds = nn.ModuleList([nn.Embedding(c, emb_dim) for c in cards])
        self.mlp = nn.Sequential(
            nn.Linear(emb_dim * len(cards) + n_num, hidden), nn.ReLU(), nn.Dropout(p),
            nn.Linear(hidden, hidden // 2), nn.ReLU(),
            nn.Linear(hidden // 2, 1))

    def forward(self, cats, nums):
        e = [emb(cats[:, i]) for i, emb in enumerate(self.embeds)]
        return self.mlp(torch.cat(e + [nums], dim=1)).squeeze(1)


def to_tensors(df, mu, sd, ymu, ysd):
    cats = torch.tensor(df[CAT].values, dtype=torch.long)
    nums = torch.tensor(((df[NUM] - mu) / sd).values, dtype=torch.float32)
    y = torch.tensor(((np.log1p(df["units"]) - ymu) / ysd).values, dtype=torch.float32)
    return TensorDataset(cats, nums, y)


def r2(model, ds):
    model.eval()
    with torch.no_grad():
        cats, nums, y = ds.tensors
        res = ((model(cats, nums) - y) ** 2).sum()
    return 1 - (res / ((y - y.mean()) ** 2).sum()).item()


def run():
    torch.manual_seed(0)
    df = make_frame()
    train_df, val_df = df.iloc[:4000], df.iloc[4000:]
    mu, sd = train_df[NUM].mean(), train_df[NUM].std()
    logu = np.log1p(train_df["units"])
    stats = (mu, sd, logu.mean(), logu.std())
    train, val = to_tensors(train_df, *stats), to_tensors(val_df, *stats)
    loader = DataLoader(train, batch_size=128, shuffle=True, drop_last=True)

    model = DemandNet([CARD] * len(CAT), emb_dim=2, n_num=len(NUM))
    opt = torch.optim.Adam([
        {"params": model.embeds.parameters(), "lr": 2e-2},
        {"params": model.mlp.parameters(), "lr": 3e-3},
    ])
    for epoch in range(15):
        model.train()
        tot = 0.0
        for cats, nums, y in loader:
            opt.zero_grad()
            loss = nn.functional.mse_loss(model(cats, nums), y)
            loss.backward()
            opt.step()
            tot += loss.item()
        if epoch % 4 == 0 or epoch == 14:
            print(f"epoch {epoch:2d} mse {tot / len(loader):.4f}  val R2 {r2(model, val):.3f}")


if __name__ == "__main__":
    run()
