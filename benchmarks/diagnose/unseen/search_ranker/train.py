"""Pairwise learning-to-rank (RankNet). Usage: python train.py [config.yaml]"""
import sys
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
import yaml
from torch import nn


def make_queries(n, docs, feats, rng, w, v):
    X = rng.normal(size=(n, docs, feats))
    rel = X @ w + 0.8 * np.tanh(X @ v) * X[..., 0] + rng.normal(0, 0.3, (n, docs))
    grade = np.digitize(rel, np.quantile(rel, [0.5, 0.75, 0.9]))
    return torch.tensor(X, dtype=torch.float32), torch.tensor(grade)


def ndcg(scores, grade, k=5):
    disc = 1 / torch.log2(torch.arange(k) + 2.0)
    gain = 2.0 ** grade - 1
    top = gain.gather(1, scores.argsort(1, descending=True)[:, :k])
    best = gain.sort(1, descending=True).values[:, :k]
    return ((top * disc).sum(1) / (best * disc).sum(1).clamp(min=1e-9)).mean().item()


def ranknet(scores, grade):
    diff = scores[:, :, None] - scores[:, None, :]
    better = grade[:, :, None] > grade[:, None, :]
    return F.softplus(-diff[better]).mean()


def build(cfg, n_in):
    layers, width = [], n_in
    for h in cfg["hidden"]:
        layers += [nn.Linear(width, h), nn.ReLU(), nn.Dropout(cfg["dropout"])]
        width = h
    return nn.Sequential(*layers, nn.Linear(width, 1))


def main(path):
    cfg = yaml.safe_load(open(path))
    torch.set_num_threads(1)
    torch.manual_seed(cfg["train"]["seed"])
    rng = np.random.default_rng(cfg["train"]["seed"])
    d, o = cfg["data"], cfg["optim"]
    w, v = rng.normal(0, 0.5, d["features"]), rng.normal(0, 0.5, d["features"])
    X, g = make_queries(d["queries"], d["docs_per_query"], d["features"], rng, w, v)
    Xv, gv = make_queries(100, d["docs_per_query"], d["features"], rng, w, v)
    model = build(cfg["model"], d["features"])
    opt = torch.optim.Adam(model.parameters(), lr=o["lr"], betas=tuple(o["betas"]), eps=o["eps"])
    for epoch in range(cfg["train"]["epochs"]):
        model.train()
        tot = []
        for b in torch.randperm(len(X)).split(cfg["train"]["queries_per_step"]):
            loss = ranknet(model(X[b]).squeeze(-1), g[b])
            opt.zero_grad()
            loss.backward()
            opt.step()
            tot.append(loss.item())
        model.eval()
        with torch.no_grad():
            score = ndcg(model(Xv).squeeze(-1), gv)
        print(f"epoch {epoch + 1:2d}  pair loss {np.mean(tot):.4f}  NDCG@5 {score:.4f}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).with_name("config.yaml"))
