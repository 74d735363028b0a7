"""A message-passing network with index_add on random graphs: how many edges each node is away from a marked node."""
import torch
from torch import nn


def random_graph(gen, nodes=12):
    """A random tree plus a few edges; targets are the hops to the marked node, capped at 4."""
    parents = [int(torch.randint(0, i, (1,), generator=gen)) for i in range(1, nodes)]
    edges = [(i + 1, p) for i, p in enumerate(parents)]
    edges += [tuple(torch.randint(0, nodes, (2,), generator=gen).tolist()) for _ in range(2)]
    src = torch.tensor([a for a, b in edges] + [b for a, b in edges])
    dst = torch.tensor([b for a, b in edges] + [a for a, b in edges])
    mark = int(torch.randint(0, nodes, (1,), generator=gen))
    hops = torch.full((nodes,), 4)
    hops[mark] = 0
    for _ in range(4):
        near = torch.full((nodes,), 4).scatter_reduce(0, dst, hops[src], "amin")
        hops = torch.minimum(hops, near + 1)
    x = torch.zeros(nodes, 1)
    x[mark] = 1
    return x, src, dst, hops


def batch(graphs):
    sizes = torch.tensor([len(g[0]) for g in graphs])
    shift = sizes.cumsum(0) - sizes
    return (
        torch.cat([g[0] for g in graphs]),
        torch.cat([g[1] + s for g, s in zip(graphs, shift)]),
        torch.cat([g[2] + s for g, s in zip(graphs, shift)]),
        torch.cat([g[3] for g in graphs]),
    )


class Layer(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.message = nn.Sequential(nn.Linear(2 * dim, dim), nn.ReLU())
        self.update = nn.GRUCell(dim, dim)

    def forward(self, h, src, dst):
        m = self.message(torch.cat([h[src], h[dst]], 1))
        pooled = torch.zeros_like(h).index_add(0, dst, m)
        return self.update(pooled, h)


class GNN(nn.Module):
    def __init__(self, dim=32, rounds=4):
        super().__init__()
        self.embed = nn.Linear(1, dim)
        self.layers = nn.ModuleList(Layer(dim) for _ in range(rounds))
        self.out = nn.Linear(dim, 5)

    def forward(self, x, src, dst):
        h = self.embed(x)
        for layer in self.layers:
            h = layer(h, src, dst)
        return self.out(h)


def main():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    gen = torch.Generator().manual_seed(0)
    graphs = [random_graph(gen) for _ in range(260)]
    val = batch([random_graph(gen, nodes=15) for _ in range(80)])
    model = GNN()
    opt = torch.optim.Adam(model.parameters(), lr=4e-3)
    for epoch in range(14):
        order = torch.randperm(len(graphs), generator=gen).tolist()
        for s in range(0, len(order), 20):
            x, src, dst, y = batch([graphs[i] for i in order[s : s + 20]])
            loss = nn.functional.cross_entropy(model(x, src, dst), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
        if epoch % 2 == 1:
            with torch.no_grad():
                acc = (model(*val[:3]).argmax(1) == val[3]).float().mean()
            print(f"epoch {epoch + 1} loss {loss.item():.4f} accuracy on larger graphs {acc:.3f}")
    print(f"share of the most frequent answer {val[3].bincount().max() / len(val[3]):.3f}")


if __name__ == "__main__":
    main()
