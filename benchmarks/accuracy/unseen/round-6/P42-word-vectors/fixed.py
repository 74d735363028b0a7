import numpy as np
import torch
import torch.nn as nn


def pretend_glove(vocab, dim, seed=0):
    return torch.tensor(np.random.default_rng(seed).normal(size=(vocab, dim)), dtype=torch.float32) * 0.3


def build_corpus(n, vocab, seed):
    rng = np.random.default_rng(seed)
    tone = np.random.default_rng(77).normal(size=vocab)
    ids = rng.integers(0, vocab, size=(n, 12))
    score = tone[ids].sum(1)
    return torch.tensor(ids), torch.tensor((score > 0).astype(np.int64))


class BagOfVectors(nn.Module):
    def __init__(self, vectors, classes=2):
        super().__init__()
        self.embedding = nn.Embedding.from_pretrained(vectors, freeze=False)
        self.classifier = nn.Linear(vectors.size(1), classes)

    def forward(self, ids):
        return self.classifier(self.embedding(ids).mean(1))


def main():
    torch.manual_seed(6)
    torch.set_num_threads(1)
    vocab, dim = 300, 12
    x, y = build_corpus(3000, vocab, 1)
    xv, yv = build_corpus(600, vocab, 2)
    model = BagOfVectors(pretend_glove(vocab, dim))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for epoch in range(12):
        model.train()
        total = 0.0
        for b in torch.randperm(len(x)).split(50):
            loss = nn.functional.cross_entropy(model(x[b]), y[b])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        model.eval()
        with torch.no_grad():
            acc = (model(xv).argmax(1) == yv).float().mean().item()
        if epoch % 3 == 2:
            print(f"epoch {epoch + 1}: loss {total / 60:.3f}  val acc {acc:.3f}")


main()
