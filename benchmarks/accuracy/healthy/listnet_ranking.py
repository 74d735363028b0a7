"""ListNet: one query per step, the softmax runs over the documents of the query."""

import numpy as np
import torch

torch.set_num_threads(1)
torch.manual_seed(0)
rng = np.random.default_rng(0)

QUERIES, DOCS, FEATURES = 120, 20, 12
w_true = rng.normal(size=FEATURES)
queries = rng.normal(size=(QUERIES, DOCS, FEATURES)).astype(np.float32)
relevance = np.clip(np.round(queries @ w_true / 2 + 1.5 + 0.3 * rng.normal(size=(QUERIES, DOCS))), 0, 4).astype(
    np.float32
)


def ndcg(scores, gains, k=10):
    discount = 1 / np.log2(np.arange(2, k + 2))
    ideal = (np.sort(2**gains - 1)[::-1][:k] * discount).sum()
    return ((2**gains - 1)[np.argsort(-scores)][:k] * discount).sum() / max(ideal, 1e-9)


ranker = torch.nn.Sequential(torch.nn.Linear(FEATURES, 32), torch.nn.ReLU(), torch.nn.Linear(32, 1))
optimizer = torch.optim.Adam(ranker.parameters(), lr=1e-3)


def listnet(scores, gains):
    """Cross entropy between the two top-one distributions over the list; both (documents, 1)."""
    return -(torch.softmax(gains, dim=0) * torch.log_softmax(scores, dim=0)).sum()


def evaluate(indices):
    with torch.inference_mode():
        return np.mean([ndcg(ranker(torch.from_numpy(queries[q])).squeeze(1).numpy(), relevance[q]) for q in indices])


print("before", evaluate(range(100, QUERIES)))
for epoch in range(4):
    total = 0.0
    for q in rng.permutation(100):
        documents = torch.from_numpy(queries[q])
        gains = torch.from_numpy(relevance[q]).unsqueeze(1)
        loss = listnet(ranker(documents), gains)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    print(epoch, total / 100, evaluate(range(100, QUERIES)))
assert evaluate(range(100, QUERIES)) > 0.9
