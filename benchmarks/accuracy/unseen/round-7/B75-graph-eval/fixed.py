# Semi-supervised node classification with a two layer GCN on a planted-partition graph
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


def planted_graph(n=600, k=4, p_in=0.012, p_out=0.006, dim=80, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, k, n)
    same = y[:, None] == y[None]
    adj = rng.random((n, n)) < np.where(same, p_in, p_out)
    adj = np.triu(adj, 1)
    adj = adj | adj.T
    centres = rng.normal(0, 0.22, (k, dim))
    x = centres[y] + rng.normal(0, 1, (n, dim))
    perm = rng.permutation(n)
    train_mask = np.zeros(n, bool)
    val_mask = np.zeros(n, bool)
    train_mask[perm[:360]] = True
    val_mask[perm[360:]] = True
    t = torch.tensor
    return (t(x, dtype=torch.float32), t(adj.astype(np.float32)), t(y), t(train_mask), t(val_mask))


def normalise(adj):
    a = adj + torch.eye(len(adj))
    d = a.sum(1).rsqrt()
    return d[:, None] * a * d[None]


class GCNLayer(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.lin = nn.Linear(i, o)

    def forward(self, x, a):
        return a @ self.lin(x)


class GCN(nn.Module):
    def __init__(self, dim, hidden, classes):
        super().__init__()
        self.g1 = GCNLayer(dim, hidden)
        self.g2 = GCNLayer(hidden, classes)

    def forward(self, x, a):
        h = F.relu(self.g1(x, a))
        return self.g2(F.dropout(h, 0.2, self.training), a)


def main():
    torch.manual_seed(0)
    x, adj, y, train_mask, val_mask = planted_graph()
    a = normalise(adj)
    model = GCN(x.size(1), 64, 4)
    opt = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=1e-4)

    @torch.no_grad()
    def evaluate():
        model.eval()
        pred = model(x, a).argmax(1)
        return (pred == y)[val_mask].float().mean().item()

    for epoch in range(1, 201):
        model.train()
        opt.zero_grad()
        out = model(x, a)
        loss = F.cross_entropy(out[train_mask], y[train_mask])
        loss.backward()
        opt.step()
        if epoch % 40 == 0:
            print(f"epoch {epoch:3d} loss {loss.item():.4f} val acc {evaluate():.3f}")


main()
