"""Variational graph auto-encoder on a small two-community graph."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(42)
NODES, HIDDEN, LATENT = 60, 16, 4


def make_graph():
    block = torch.arange(NODES) % 2
    probability = torch.where(block[:, None] == block[None, :], 0.3, 0.03)
    upper = torch.triu((torch.rand(NODES, NODES) < probability).float(), diagonal=1)
    return upper + upper.T


def normalise(adj):
    adj = adj + torch.eye(len(adj))
    d = adj.sum(1).rsqrt()
    return d[:, None] * adj * d[None, :]


class GraphConv(nn.Module):
    def __init__(self, n_in, n_out, adj):
        super().__init__()
        self.weight = nn.Parameter(nn.init.xavier_uniform_(torch.empty(n_in, n_out)))
        self.register_buffer("adj", adj)

    def forward(self, x):
        return self.adj @ (x @ self.weight)


class VGAE(nn.Module):
    def __init__(self, adj, n_features):
        super().__init__()
        self.base = GraphConv(n_features, HIDDEN, adj)
        self.gcn_mean = GraphConv(HIDDEN, LATENT, adj)
        self.gcn_logstd = GraphConv(HIDDEN, LATENT, adj)

    def encode(self, x):
        hidden = F.relu(self.base(x))
        self.mean, self.logstd = self.gcn_mean(hidden), self.gcn_logstd(hidden)
        return self.mean + torch.randn_like(self.mean) * torch.exp(self.logstd)

    def forward(self, x):
        z = self.encode(x)
        return z @ z.T


adj_label = make_graph()
features = torch.eye(NODES)
model = VGAE(normalise(adj_label), NODES)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
pos_weight = (NODES * NODES - adj_label.sum()) / adj_label.sum()

for epoch in range(250):
    logits = model(features)
    recon = F.binary_cross_entropy_with_logits(logits, adj_label + torch.eye(NODES), pos_weight=pos_weight)
    kl = -0.5 * (1 + 2 * model.logstd - model.mean**2 - torch.exp(model.logstd)).sum(1).mean()  # <- PM507
    loss = recon + kl
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if epoch % 25 == 0:
        print(f"epoch {epoch:03d} recon {recon.item():.4f} kl {kl.item():.4f} std {model.logstd.exp().mean().item():.3f}")
