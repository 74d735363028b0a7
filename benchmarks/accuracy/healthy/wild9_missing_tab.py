"""Tabular transformer for a table with holes: NaN marks a missing cell and is replaced by a learned token."""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split
from torch.utils.data import DataLoader, TensorDataset


def load(seed, hole=0.25, columns=12):
    x, y = load_breast_cancer(return_X_y=True)
    x = x[:, :columns].copy()
    rng = np.random.default_rng(seed)
    x[rng.random(x.shape) < hole] = np.nan
    xt, xv, yt, yv = train_test_split(x, y, test_size=0.3, stratify=y, random_state=seed)
    mean, std = np.nanmean(xt, 0), np.nanstd(xt, 0)
    pack = lambda a, b: TensorDataset(torch.tensor((a - mean) / std, dtype=torch.float32),
                                      torch.tensor(b, dtype=torch.float32))
    return pack(xt, yt), pack(xv, yv)


class TabTransformer(nn.Module):
    def __init__(self, columns, dim=24):
        super().__init__()
        self.scale = nn.Parameter(torch.randn(columns, dim) * 0.3)
        self.shift = nn.Parameter(torch.randn(columns, dim) * 0.3)
        self.missing = nn.Parameter(torch.randn(columns, dim) * 0.3)
        self.cls = nn.Parameter(torch.zeros(1, 1, dim))
        layer = nn.TransformerEncoderLayer(dim, 4, 48, dropout=0.1, batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Sequential(nn.LayerNorm(dim), nn.Linear(dim, 1))

    def forward(self, x):
        hole = torch.isnan(x)
        known = torch.nan_to_num(x)[..., None] * self.scale + self.shift
        tok = torch.where(hole[..., None], self.missing.expand_as(known), known)
        tok = torch.cat([self.cls.expand(len(x), -1, -1), tok], dim=1)
        return self.head(self.encoder(tok)[:, 0]).squeeze(-1)


@torch.no_grad()
def evaluate(model, ds):
    model.eval()
    x, y = ds.tensors
    z = model(x)
    return F.binary_cross_entropy_with_logits(z, y).item(), roc_auc_score(y.numpy(), z.numpy())


def main():
    torch.manual_seed(4)
    train_set, valid_set = load(4)
    loader = DataLoader(train_set, batch_size=32, shuffle=True)
    model = TabTransformer(12)
    opt = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=1e-2)
    for epoch in range(9):
        model.train()
        tot = 0.0
        for x, y in loader:
            gone = torch.rand_like(x) < 0.1
            opt.zero_grad()
            loss = F.binary_cross_entropy_with_logits(model(x.masked_fill(gone, float("nan"))), y)
            loss.backward()
            opt.step()
            tot += loss.item() * len(y)
        if epoch % 3 == 2:
            vl, auc = evaluate(model, valid_set)
            print(f"epoch {epoch + 1:2d} train {tot / len(train_set):.4f} valid {vl:.4f} auc {auc:.4f}")


if __name__ == "__main__":
    main()
