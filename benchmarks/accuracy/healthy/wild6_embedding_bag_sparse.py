"""Bag-of-words classifier with a sparse EmbeddingBag (SparseAdam) and a dense head (Adam)."""
import numpy as np
import torch
import torch.nn as nn

rng = np.random.default_rng(0)
torch.manual_seed(0)
torch.set_num_threads(1)
VOCAB, TOPICS = 2000, 5
topic_words = [rng.choice(VOCAB, 60, replace=False) for _ in range(TOPICS)]


def document():
    t = int(rng.integers(TOPICS))
    n = int(rng.integers(8, 40))
    own = rng.choice(topic_words[t], max(2, n // 3))
    return np.concatenate([own, rng.integers(0, VOCAB, n - len(own))]), t


def pack(docs):
    words, labels = zip(*docs)
    offsets = np.cumsum([0] + [len(w) for w in words[:-1]])
    return torch.tensor(np.concatenate(words)), torch.tensor(offsets), torch.tensor(labels)


train, test = [document() for _ in range(1500)], [document() for _ in range(300)]
bag = nn.EmbeddingBag(VOCAB, 24, mode="mean", sparse=True)
head = nn.Sequential(nn.Linear(24, 32), nn.ReLU(), nn.Linear(32, TOPICS))
opts = [torch.optim.SparseAdam(bag.parameters(), lr=1e-2), torch.optim.Adam(head.parameters(), lr=2e-3)]
for epoch in range(10):
    order = rng.permutation(len(train))
    for i in range(0, len(order), 50):
        w, o, y = pack([train[j] for j in order[i:i + 50]])
        loss = nn.functional.cross_entropy(head(bag(w, o)), y)
        for op in opts:
            op.zero_grad()
        loss.backward()
        for op in opts:
            op.step()
    with torch.no_grad():
        w, o, y = pack(test)
        acc = (head(bag(w, o)).argmax(1) == y).float().mean()
    if epoch % 2:
        print(f"epoch {epoch + 1}: loss {loss.item():.3f} test accuracy {acc:.3f}")
