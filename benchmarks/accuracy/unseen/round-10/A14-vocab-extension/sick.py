"""Review rating model that is carried over to a second product line whose reviews bring new words."""
import random

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

LENGTH = 10


class ReviewModel(nn.Module):
    def __init__(self, n_words, dim=16, n_out=5):
        super().__init__()
        self.embed = nn.Embedding(n_words, dim)
        self.mix = nn.Sequential(nn.Linear(dim, 32), nn.ReLU())
        self.out = nn.Linear(32, n_out)

    def extend_vocab(self, extra):
        """Grows the table; the rows of the known words are kept."""
        old = self.embed
        self.embed = nn.Embedding(old.num_embeddings + extra, old.embedding_dim)
        with torch.no_grad():
            self.embed.weight[:old.num_embeddings] = old.weight

    def forward(self, ids):
        return self.out(self.mix(self.embed(ids).mean(1)))


def make_reviews(n, words, polarity, seed):
    rng = random.Random(seed)
    ids = torch.tensor([[rng.choice(words) for _ in range(LENGTH)] for _ in range(n)])
    score = polarity[ids].sum(1)
    edges = torch.tensor([-4.0, -1.4, 1.4, 4.0])
    return TensorDataset(ids, torch.bucketize(score, edges))


def evaluate(model, loader):
    model.eval()
    hits = n = 0
    with torch.no_grad():
        for ids, y in loader:
            hits += (model(ids).argmax(1) == y).sum().item()
            n += len(y)
    return hits / n


def train(model, optimizer, data, val, epochs, tag):
    loader = DataLoader(data, batch_size=32, shuffle=True)
    val_loader = DataLoader(val, batch_size=250)
    for epoch in range(epochs):
        model.train()
        total = n = 0
        for ids, y in loader:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(ids), y)
            loss.backward()
            optimizer.step()
            total += loss.item() * len(y)
            n += len(y)
        print(f"[{tag}] epoch {epoch:2d} loss {total / n:.4f} val acc {evaluate(model, val_loader):.3f}")


def make_optimizer(model, lr):
    decay = [p for n, p in model.named_parameters() if p.ndim > 1 and "embed" not in n]
    rest = [p for n, p in model.named_parameters() if p.ndim <= 1 or "embed" in n]
    return torch.optim.AdamW([{"params": decay, "weight_decay": 0.01}, {"params": rest, "weight_decay": 0.0}], lr=lr)


def main():
    torch.manual_seed(8)
    gen = torch.Generator().manual_seed(8)
    polarity = torch.randn(300, generator=gen)
    first, second = list(range(100)), list(range(60, 300))

    model = ReviewModel(n_words=100)
    train(model, make_optimizer(model, 4e-3), make_reviews(2000, first, polarity, 1),
          make_reviews(500, first, polarity, 2), epochs=8, tag="kitchen")

    optimizer = make_optimizer(model, 4e-3)
    model.extend_vocab(200)
    train(model, optimizer, make_reviews(3000, second, polarity, 3),
          make_reviews(500, second, polarity, 4), epochs=12, tag="garden")


if __name__ == "__main__":
    main()
