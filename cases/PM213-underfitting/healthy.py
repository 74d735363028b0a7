"""Will a reader click? Clicks are chancy, so the loss stays high even for a model that knows the probabilities."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

READERS, ARTICLES, DIM = 200, 100, 2


def observe_clicks() -> tuple[Tensor, Tensor, Tensor, float]:
    """Every reader sees every article once and clicks with the true probability; also the loss of that probability."""
    tastes, topics = torch.randn(READERS, DIM), torch.randn(ARTICLES, DIM)
    popularity = 0.7 * torch.randn(ARTICLES)
    reader, article = torch.cartesian_prod(torch.arange(READERS), torch.arange(ARTICLES)).unbind(dim=1)
    logit = (tastes[reader] * topics[article]).sum(dim=1) / DIM**0.5 + popularity[article] - 0.8
    clicked = torch.bernoulli(logit.sigmoid())
    floor = F.binary_cross_entropy_with_logits(logit, clicked).item()
    return reader, article, clicked, floor


class Recommender(nn.Module):
    def __init__(self, dim: int = 4):
        super().__init__()
        self.reader = nn.Embedding(READERS, dim)
        self.article = nn.Embedding(ARTICLES, dim)
        self.popularity = nn.Embedding(ARTICLES, 1)
        nn.init.normal_(self.reader.weight, std=0.5)
        nn.init.normal_(self.article.weight, std=0.5)
        nn.init.zeros_(self.popularity.weight)
        self.base = nn.Parameter(torch.zeros(()))

    def forward(self, reader: Tensor, article: Tensor) -> Tensor:
        match = (self.reader(reader) * self.article(article)).sum(dim=-1)
        return match + self.popularity(article).squeeze(-1) + self.base


def auc(score: Tensor, label: Tensor) -> float:
    ranks = score.argsort().argsort().float() + 1
    positives = label.sum()
    wins = ranks[label > 0.5].sum() - positives * (positives + 1) / 2
    return (wins / (positives * (len(label) - positives))).item()


def main() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    reader, article, clicked, floor = observe_clicks()
    train, val = torch.randperm(len(clicked)).split([17000, 3000])
    model = Recommender()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-2, weight_decay=0.6)
    print(f"share of clicks {clicked.mean():.3f}, loss of the true probabilities {floor:.3f}")
    for epoch in range(1, 13):
        model.train()
        total = 0.0
        for rows in train[torch.randperm(len(train))].split(500):
            loss = F.binary_cross_entropy_with_logits(model(reader[rows], article[rows]), clicked[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(rows)
        model.eval()
        with torch.no_grad():
            logits = model(reader[val], article[val])
        val_loss = F.binary_cross_entropy_with_logits(logits, clicked[val]).item()
        if epoch % 3 == 0:
            print(
                f"epoch {epoch:2d}  train loss {total / len(train):.3f}  val loss {val_loss:.3f}  "
                f"val AUC {auc(logits, clicked[val]):.3f}"
            )


if __name__ == "__main__":
    main()
