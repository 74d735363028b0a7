"""Graph attention on a synthetic citation network."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class GraphAttention(nn.Module):
    def __init__(self, n_in, n_out, dropout):
        super().__init__()
        self.W = nn.Linear(n_in, n_out, bias=False)
        self.left, self.right = nn.Linear(n_out, 1, bias=False), nn.Linear(n_out, 1, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(self, h, adj):
        wh = self.W(h)
        e = F.leaky_relu(self.left(wh) + self.right(wh).t(), 0.2)
        e = e.masked_fill(adj == 0, float("-inf"))
        attention = self.dropout(torch.softmax(e, dim=1))
        return attention @ wh


class GAT(nn.Module):
    def __init__(self, n_in, hidden, classes, dropout=0.5):
        super().__init__()
        self.first = GraphAttention(n_in, hidden, dropout)
        self.second = GraphAttention(hidden, classes, dropout)

    def forward(self, x, adj):
        return self.second(F.elu(self.first(x, adj)), adj)


def graph(n=200, classes=4):
    g = torch.Generator().manual_seed(0)
    y = torch.randint(0, classes, (n,), generator=g)
    same = (y.unsqueeze(0) == y.unsqueeze(1)).float()
    p = 0.08 * same + 0.01 * (1 - same)
    adj = (torch.rand(n, n, generator=g) < p).float()
    adj = ((adj + adj.t() + torch.eye(n)) > 0).float()
    x = F.one_hot(y, classes).float() @ torch.randn(classes, 24, generator=g) + 1.5 * torch.randn(n, 24, generator=g)
    return x, adj, y


def main():
    torch.manual_seed(0)
    x, adj, y = graph()
    train, val = torch.arange(0, 120), torch.arange(120, 200)
    model = GAT(24, 16, 4)
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3, weight_decay=5e-4)
    for epoch in range(150):
        model.train()
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x, adj)[train], y[train])
        loss.backward()
        optimizer.step()
        if epoch % 15 == 0:
            model.eval()
            with torch.no_grad():
                out = model(x, adj)
            accuracy = (out[val].argmax(1) == y[val]).float().mean().item()
            print(epoch, f"{loss.item():.3f} {accuracy:.3f}")


main()
