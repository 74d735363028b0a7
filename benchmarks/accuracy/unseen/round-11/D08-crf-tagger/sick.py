import numpy as np
import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(5)
rng = np.random.default_rng(5)

TAGS, VOCAB, T = 5, 60, 16

# ---------------------------------------------------------------- corpus
trans = np.full((TAGS, TAGS), 0.02)
for t in range(TAGS):
    trans[t, (t + 1) % TAGS] = 0.88
    trans[t, (t + 3) % TAGS] = 0.06
trans /= trans.sum(1, keepdims=True)
emit = rng.dirichlet(np.full(VOCAB, 0.4), size=TAGS)
emit = 0.75 * emit + 0.25 * emit.mean(0, keepdims=True)


def corpus(n):
    words, tags = np.zeros((n, T), dtype=np.int64), np.zeros((n, T), dtype=np.int64)
    for i in range(n):
        t = rng.integers(TAGS)
        for j in range(T):
            t = rng.choice(TAGS, p=trans[t]) if j else t
            tags[i, j] = t
            words[i, j] = rng.choice(VOCAB, p=emit[t])
    return torch.from_numpy(words), torch.from_numpy(tags)


train_w, train_t = corpus(800)
test_w, test_t = corpus(300)


# ---------------------------------------------------------------- model
class Emissions(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, 24)
        self.mlp = nn.Sequential(nn.Linear(24, 48), nn.Tanh(), nn.Linear(48, TAGS))

    def forward(self, w):
        return self.mlp(self.emb(w))


class CRFLoss(nn.Module):
    """Negative log-likelihood of a linear-chain CRF."""

    def __init__(self, n_tags):
        super().__init__()
        self.transitions = nn.Parameter(0.01 * torch.randn(n_tags, n_tags))
        self.start = nn.Parameter(torch.zeros(n_tags))

    def forward(self, em, tags):
        gold = self.start[tags[:, 0]] + em.gather(2, tags[..., None]).squeeze(2).sum(1)
        gold = gold + self.transitions[tags[:, :-1], tags[:, 1:]].sum(1)
        alpha = self.start + em[:, 0]
        for t in range(1, em.shape[1]):
            alpha = torch.logsumexp(alpha[:, :, None] + self.transitions[None], 1) + em[:, t]
        return (torch.logsumexp(alpha, 1) - gold).mean() / em.shape[1]

    @torch.no_grad()
    def decode(self, em):
        score, back = self.start + em[:, 0], []
        for t in range(1, em.shape[1]):
            best, idx = (score[:, :, None] + self.transitions[None]).max(1)
            score = best + em[:, t]
            back.append(idx)
        path = [score.argmax(1)]
        for idx in reversed(back):
            path.append(idx.gather(1, path[-1][:, None]).squeeze(1))
        return torch.stack(path[::-1], 1)


tagger = Emissions()
criterion = CRFLoss(TAGS)
params = list(tagger.parameters())
optimizer = torch.optim.Adam(params, lr=1e-2)

# ---------------------------------------------------------------- training
for epoch in range(12):
    order = torch.randperm(len(train_w))
    running = 0.0
    for chunk in order.split(32):
        loss = criterion(tagger(train_w[chunk]), train_t[chunk])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        running += loss.item() * len(chunk)
    with torch.no_grad():
        pred = criterion.decode(tagger(test_w))
    print(f"epoch {epoch + 1:2d}  nll/token {running / len(order):.4f}  test tag acc {(pred == test_t).float().mean().item():.4f}")
