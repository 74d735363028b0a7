"""Learning to rank for site search: RankNet on logged relevance judgements (judgements.csv)."""
import numpy as np
import pandas as pd
import torch
import torch.nn as nn
import torch.nn.functional as F

FEATURES = ["bm25", "title_match", "body_match", "pagerank", "click_rate", "age_days", "url_depth"]
EPOCHS = 12


class QueryGroups:
    def __init__(self, frame, mean, std):
        self.groups = []
        for _, g in frame.groupby("query_id", sort=False):
            x = ((g[FEATURES].to_numpy() - mean) / std).astype(np.float32)
            self.groups.append((torch.from_numpy(x), torch.tensor(g["relevance"].to_numpy(), dtype=torch.float32)))

    def batches(self, size, rng):
        order = rng.permutation(len(self.groups))
        for i in range(0, len(order), size):
            yield [self.groups[j] for j in order[i:i + size]]


class Scorer(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(n, 32), nn.ReLU(), nn.Linear(32, 16), nn.ReLU(), nn.Linear(16, 1))

    def forward(self, x):
        return self.net(x).squeeze(-1)


def ranknet_loss(scores, rel):
    better = (rel[:, None] > rel[None, :])
    if not better.any():
        return scores.sum() * 0.0
    diff = scores[:, None] - scores[None, :]
    return F.softplus(-diff[better]).mean()


def ndcg(scores, rel, k=5):
    gain = 2.0 ** rel - 1
    disc = 1 / np.log2(np.arange(2, k + 2))
    got = (gain[np.argsort(-scores)][:k] * disc).sum()
    best = (np.sort(gain)[::-1][:k] * disc).sum()
    return got / best if best > 0 else 1.0


@torch.no_grad()
def evaluate(model, data):
    model.eval()
    losses, scores = [], []
    for x, rel in data.groups:
        s = model(x)
        losses.append(ranknet_loss(s, rel).item())
        scores.append(ndcg(s.numpy(), rel.numpy()))
    return float(np.mean(losses)), float(np.mean(scores))


def main():
    torch.manual_seed(11)
    rng = np.random.default_rng(11)
    df = pd.read_csv("judgements.csv")
    df["age_days"] = np.log1p(df["age_days"])
    queries = rng.permutation(df["query_id"].unique())
    cut = int(0.8 * len(queries))
    train_df = df[df["query_id"].isin(queries[:cut])]
    valid_df = df[df["query_id"].isin(queries[cut:])]
    mean, std = train_df[FEATURES].mean().to_numpy(), train_df[FEATURES].std().to_numpy()
    train, valid = QueryGroups(train_df, mean, std), QueryGroups(valid_df, mean, std)
    print(len(train.groups), "training queries,", len(valid.groups), "validation queries")

    model = Scorer(len(FEATURES))
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    for epoch in range(EPOCHS):
        model.train()
        losses = []
        for batch in train.batches(8, rng):
            loss = torch.stack([ranknet_loss(model(x), rel) for x, rel in batch]).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        val_loss, val_ndcg = evaluate(model, valid)
        print(f"epoch {epoch:2d} pair loss {np.mean(losses):.4f} val {val_loss:.4f} ndcg@5 {val_ndcg:.4f}")


if __name__ == "__main__":
    main()
