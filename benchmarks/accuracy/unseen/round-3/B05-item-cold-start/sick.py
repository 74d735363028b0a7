"""BPR matrix factorisation for a small shop, item vectors warm-started from content features."""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

N_USERS, N_ITEMS, DIM = 300, 400, 24


def load_interactions(seed=5):
    rng = np.random.default_rng(seed)
    taste = rng.normal(0, 1, (N_USERS, 6))
    appeal = rng.normal(0, 1, (N_ITEMS, 6))
    content = np.concatenate([appeal[:, :2], rng.normal(0, 1, (N_ITEMS, 10))], 1)    # catalogue features
    score = taste @ appeal.T + rng.gumbel(0, 0.6, (N_USERS, N_ITEMS))
    liked = np.argsort(-score, 1)[:, :30]
    train, test = [], []
    for u in range(N_USERS):
        items = rng.permutation(liked[u])
        train += [(u, i) for i in items[:24]]
        test.append(items[24:])
    return np.array(train), test, content.astype(np.float32)


class BPR(nn.Module):
    def __init__(self, n_users, n_items, dim):
        super().__init__()
        self.user = nn.Embedding(n_users, dim)
        self.item = nn.Embedding(n_items, dim)
        self.bias = nn.Embedding(n_items, 1)
        for e in (self.user, self.item):
            nn.init.normal_(e.weight, std=0.1)
        nn.init.zeros_(self.bias.weight)

    def warm_start_items(self, content):
        """Project catalogue features to the latent size and use them as initial item vectors."""
        u, s, _ = np.linalg.svd(content - content.mean(0), full_matrices=False)
        k = min(u.shape[1], self.item.embedding_dim)
        vec = torch.randn(self.item.num_embeddings, self.item.embedding_dim) * 0.05
        vec[:, :k] += torch.from_numpy(u[:, :k] * s[:k] / s[0])
        self.item = nn.Embedding.from_pretrained(vec, freeze=False)

    def forward(self, u, i):
        return (self.user(u) * self.item(i)).sum(-1) + self.bias(i).squeeze(-1)

    @torch.no_grad()
    def all_scores(self):
        return self.user.weight @ self.item.weight.T + self.bias.weight.T


def recall_at(model, train, test, k=20):
    s = model.all_scores()
    s[torch.as_tensor(train[:, 0]), torch.as_tensor(train[:, 1])] = -1e9
    top = s.topk(k, dim=1).indices.numpy()
    return float(np.mean([len(set(top[u]) & set(test[u])) / len(test[u]) for u in range(N_USERS)]))


def train_model(epochs=25, batch=256, lr=5e-3):
    torch.manual_seed(1)
    rng = np.random.default_rng(1)
    pairs, held_out, content = load_interactions()
    seen = {u: set() for u in range(N_USERS)}
    for u, i in pairs:
        seen[u].add(i)

    model = BPR(N_USERS, N_ITEMS, DIM)
    optimizer = torch.optim.Adam(model.parameters(), lr=lr, weight_decay=1e-5)
    model.warm_start_items(content)
    print(f"start: recall@20 {recall_at(model, pairs, held_out):.3f}")

    for ep in range(1, epochs + 1):
        order = rng.permutation(len(pairs))
        losses = []
        for s in range(0, len(order), batch):
            chunk = pairs[order[s:s + batch]]
            neg = rng.integers(0, N_ITEMS, len(chunk))
            for j, u in enumerate(chunk[:, 0]):
                while neg[j] in seen[u]:
                    neg[j] = rng.integers(0, N_ITEMS)
            u = torch.from_numpy(chunk[:, 0])
            pos = model(u, torch.from_numpy(chunk[:, 1]))
            loss = -F.logsigmoid(pos - model(u, torch.from_numpy(neg))).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        if ep % 5 == 0:
            print(f"epoch {ep:2d}: bpr loss {np.mean(losses):.4f} recall@20 {recall_at(model, pairs, held_out):.3f}")


if __name__ == "__main__":
    train_model()
