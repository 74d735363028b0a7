import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

rng = np.random.default_rng(13)
torch.manual_seed(13)


def citation_graph(n=900, classes=5, words=120):
    y = rng.integers(0, classes, n)
    topic = rng.random((classes, words)) < 0.15
    x = (rng.random((n, words)) < np.where(topic[y], 0.12, 0.04)).astype(np.float32)
    src, dst = [], []
    for i in range(n):
        for _ in range(4):
            pool = np.flatnonzero(y == y[i]) if rng.random() < 0.75 else np.arange(n)
            src.append(i)
            dst.append(int(rng.choice(pool)))
    e = torch.tensor([src + dst + list(range(n)), dst + src + list(range(n))])
    return torch.from_numpy(x), e, torch.from_numpy(y)


class GraphConv(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.lin = nn.Linear(i, o, bias=False)
        self.bias = nn.Parameter(torch.zeros(o))

    def forward(self, x, e, w):
        h = self.lin(x)
        return torch.zeros_like(h).index_add_(0, e[1], h[e[0]] * w[:, None]) + self.bias


class GCN(nn.Module):
    def __init__(self, i, h, o):
        super().__init__()
        self.c1, self.c2 = GraphConv(i, h), GraphConv(h, o)

    def forward(self, x, e, w):
        x = F.dropout(x, 0.3, self.training)
        x = F.relu(self.c1(x, e, w))
        x = F.dropout(x, 0.5, self.training)
        return self.c2(x, e, w)


x, e, y = citation_graph()
x = x / x.sum(1, keepdim=True).clamp(min=1)
deg = torch.bincount(e[1], minlength=len(y)).float()
w = (deg[e[0]] * deg[e[1]]).rsqrt()
order = torch.randperm(len(y))
tr, va = order[:200], order[200:500]

model = GCN(x.shape[1], 32, 5)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-2)
for epoch in range(201):
    model.train()
    optimizer.zero_grad()
    loss = F.cross_entropy(model(x, e, w)[tr], y[tr])
    loss.backward()
    optimizer.step()
    if epoch % 25 == 0:
        model.eval()
        with torch.no_grad():
            out = model(x, e, w)
            acc = (out[va].argmax(1) == y[va]).float().mean()
        print(f"epoch {epoch:3d} loss {loss:.4f} val_loss {F.cross_entropy(out[va], y[va]):.4f} val_acc {acc:.4f}")
