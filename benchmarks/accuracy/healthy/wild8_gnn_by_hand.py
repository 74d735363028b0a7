"""Semi-supervised node classification with a graph convolution written with index_add."""
import torch
import torch.nn.functional as F
from torch import nn

CLASSES, NODES = 4, 600


def block_graph(gen):
    """Stochastic block model; node features are weak, edges carry most of the information."""
    label = torch.randint(CLASSES, (NODES,), generator=gen)
    same = label.unsqueeze(0) == label.unsqueeze(1)
    prob = torch.where(same, 0.035, 0.004)
    upper = torch.triu(torch.rand(NODES, NODES, generator=gen) < prob, diagonal=1)
    src, dst = torch.nonzero(upper | upper.T, as_tuple=True)
    centre = torch.randn(CLASSES, 16, generator=gen)
    x = 0.35 * centre[label] + torch.randn(NODES, 16, generator=gen)
    return x, torch.stack([src, dst]), label


class GraphConv(nn.Module):
    def __init__(self, n_in, n_out):
        super().__init__()
        self.own = nn.Linear(n_in, n_out)
        self.neighbours = nn.Linear(n_in, n_out, bias=False)

    def forward(self, x, edges, degree):
        src, dst = edges
        message = self.neighbours(x)
        summed = torch.zeros_like(message).index_add(0, dst, message[src])
        return self.own(x) + summed / degree.clamp_min(1).unsqueeze(1)


class GNN(nn.Module):
    def __init__(self, n_in=16, hidden=32, p=0.3):
        super().__init__()
        self.conv1, self.conv2 = GraphConv(n_in, hidden), GraphConv(hidden, hidden)
        self.out = nn.Linear(hidden, CLASSES)
        self.drop = nn.Dropout(p)

    def forward(self, x, edges, degree):
        h = self.drop(F.relu(self.conv1(x, edges, degree)))
        h = self.drop(F.relu(self.conv2(h, edges, degree)))
        return self.out(h)


def main():
    torch.manual_seed(11)
    gen = torch.Generator().manual_seed(11)
    x, edges, label = block_graph(gen)
    order = torch.randperm(NODES, generator=gen)
    train, val = order[:200], order[200:400]
    x = (x - x[train].mean(0)) / x[train].std(0)
    degree = torch.bincount(edges[1], minlength=NODES).float()
    model = GNN()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2, weight_decay=5e-3)
    epochs = 120
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs)
    for epoch in range(1, epochs + 1):
        model.train()
        logits = model(x, edges, degree)
        loss = F.cross_entropy(logits[train], label[train])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        if epoch % 20 == 0:
            model.eval()
            with torch.no_grad():
                logits = model(x, edges, degree)
                val_loss = F.cross_entropy(logits[val], label[val]).item()
                acc = (logits[val].argmax(1) == label[val]).float().mean().item()
            print(f"epoch {epoch} loss {loss.item():.4f} val loss {val_loss:.4f} val acc {acc:.3f}")
    model.eval()
    with torch.no_grad():
        no_edges = model(x, edges[:, :0], degree)
    print(f"without edges {(no_edges[val].argmax(1) == label[val]).float().mean().item():.3f}")


if __name__ == "__main__":
    main()
