"""Message-passing classifier for small graphs, plain PyTorch."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader

from graphs import make_dataset


def collate_graphs(graphs):
    """Pack a list of graphs into one big graph: nodes, edges, graph id of every node, labels."""
    xs, edges, owner, offset = [], [], [], 0
    for i, g in enumerate(graphs):
        xs.append(g["x"])
        edges.append(g["edge_index"] + offset)
        offset += len(g["x"])
        owner.append(torch.full((len(g["x"]),), i))
    return torch.cat(xs), torch.cat(edges, dim=1), torch.cat(owner), torch.tensor([g["y"] for g in graphs])


class MessageLayer(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.message = nn.Sequential(nn.Linear(2 * dim, dim), nn.ReLU(), nn.Linear(dim, dim))
        self.update = nn.Linear(2 * dim, dim)

    def forward(self, h, edge_index):
        src, dst = edge_index
        m = self.message(torch.cat([h[src], h[dst]], 1))
        agg = torch.zeros_like(h).index_add_(0, dst, m)
        deg = torch.zeros(len(h)).index_add_(0, dst, torch.ones(len(dst))).clamp(min=1)
        return h + F.relu(self.update(torch.cat([h, agg / deg[:, None]], 1)))


class GraphClassifier(nn.Module):
    def __init__(self, n_in=3, dim=32, layers=2):
        super().__init__()
        self.embed = nn.Linear(n_in, dim)
        self.layers = nn.ModuleList(MessageLayer(dim) for _ in range(layers))
        self.readout = nn.Sequential(nn.Linear(dim, dim), nn.ReLU(), nn.Linear(dim, 2))

    def forward(self, x, edge_index, owner, n_graphs):
        h = self.embed(x)
        for layer in self.layers:
            h = layer(h, edge_index)
        pooled = torch.zeros(n_graphs, h.shape[1]).index_add_(0, owner, h)
        sizes = torch.zeros(n_graphs).index_add_(0, owner, torch.ones(len(owner)))
        return self.readout(pooled / sizes[:, None])


@torch.no_grad()
def accuracy(model, loader):
    model.eval()
    hits = total = 0
    for x, e, owner, y in loader:
        hits += (model(x, e, owner, len(y)).argmax(1) == y).sum().item()
        total += len(y)
    return hits / total


def main():
    torch.manual_seed(6)
    train, val = make_dataset(800, seed=1), make_dataset(200, seed=2)
    train_loader = DataLoader(train, batch_size=32, shuffle=True, collate_fn=collate_graphs)
    val_loader = DataLoader(val, batch_size=50, collate_fn=collate_graphs)
    model = GraphClassifier()
    opt = torch.optim.Adam(model.parameters(), lr=2e-3)
    for epoch in range(1, 13):
        model.train()
        total = 0.0
        for x, e, owner, y in train_loader:
            loss = F.cross_entropy(model(x, e, owner, len(y)), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item() * len(y)
        print(f"epoch {epoch:2d}  loss {total / len(train):.4f}  val acc {accuracy(model, val_loader):.3f}")


if __name__ == "__main__":
    main()
