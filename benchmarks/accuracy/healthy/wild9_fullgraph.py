"""Semi-supervised node classification over one full graph (transductive, one batch per epoch)."""
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn


def community_graph(n=600, k=4, p_in=0.05, p_out=0.008, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, k, n)
    prob = np.where(y[:, None] == y[None, :], p_in, p_out)
    upper = np.triu(rng.random((n, n)) < prob, 1)
    adj = (upper | upper.T).astype(np.float32) + np.eye(n, dtype=np.float32)
    centres = rng.standard_normal((k, 16))
    x = 0.35 * centres[y] + rng.standard_normal((n, 16))
    order = rng.permutation(n)
    masks = [np.zeros(n, dtype=bool) for _ in range(3)]
    for m, part in zip(masks, (order[:60], order[60:260], order[260:])):
        m[part] = True
    return torch.tensor(x, dtype=torch.float32), torch.tensor(adj), torch.tensor(y), [torch.tensor(m) for m in masks]


class GCNLayer(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.lin = nn.Linear(i, o)

    def forward(self, x, a):
        return a @ self.lin(x)


class GCN(nn.Module):
    def __init__(self, i, h, o):
        super().__init__()
        self.a, self.b = GCNLayer(i, h), GCNLayer(h, o)
        self.drop = nn.Dropout(0.5)

    def forward(self, x, adj):
        return self.b(self.drop(F.relu(self.a(self.drop(x), adj))), adj)


def main():
    torch.manual_seed(0)
    x, adj, y, (train, valid, test) = community_graph()
    x = (x - x.mean(0)) / x.std(0)
    deg = adj.sum(1).rsqrt()
    norm = deg[:, None] * adj * deg[None, :]
    model = GCN(x.shape[1], 32, 4)
    opt = torch.optim.Adam([{"params": model.a.parameters(), "weight_decay": 5e-4},
                            {"params": model.b.parameters(), "weight_decay": 0.0}], lr=0.01)
    best, best_state = 0.0, None
    for epoch in range(1, 201):
        model.train()
        loss = F.cross_entropy(model(x, norm)[train], y[train])
        opt.zero_grad()
        loss.backward()
        opt.step()
        model.eval()
        with torch.no_grad():
            pred = model(x, norm).argmax(1)
        acc = (pred[valid] == y[valid]).float().mean().item()
        if acc > best:
            best, best_state = acc, {k: v.clone() for k, v in model.state_dict().items()}
        if epoch % 40 == 0:
            print(f"epoch {epoch:3d}  loss {loss.item():.4f}  valid accuracy {acc:.3f}")
    model.load_state_dict(best_state)
    model.eval()
    with torch.no_grad():
        pred = model(x, norm).argmax(1)
    print(f"test accuracy at best validation {(pred[test] == y[test]).float().mean():.3f}")


if __name__ == "__main__":
    main()
