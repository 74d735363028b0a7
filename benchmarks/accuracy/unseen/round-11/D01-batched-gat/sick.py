"""Batched graph attention on small random graphs.

Every node has to report the symbol carried by the neighbour with the largest key.
"""
import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)


def make_graphs(n_graphs, n_nodes, n_symbols, p, gen):
    upper = (torch.rand(n_graphs, n_nodes, n_nodes, generator=gen) < p).triu(1)
    adj = (upper | upper.transpose(1, 2)).float()
    adj = (adj + torch.eye(n_nodes)).clamp(max=1)
    key = torch.rand(n_graphs, n_nodes, generator=gen)
    sym = torch.randint(0, n_symbols, (n_graphs, n_nodes), generator=gen)
    masked = key.unsqueeze(1).expand(-1, n_nodes, -1).masked_fill(adj == 0, -1.0)
    winner = masked.argmax(-1)
    label = sym.gather(1, winner)
    feats = torch.cat([key.unsqueeze(-1) * 2 - 1, F.one_hot(sym, n_symbols).float()], -1)
    return feats, adj, label


class GATLayer(nn.Module):
    def __init__(self, c_in, c_out, num_heads=1, concat_heads=True, alpha=0.2):
        super().__init__()
        self.num_heads = num_heads
        self.concat_heads = concat_heads
        if concat_heads:
            assert c_out % num_heads == 0
            c_out = c_out // num_heads
        self.projection = nn.Linear(c_in, c_out * num_heads)
        self.score = nn.Sequential(nn.Linear(2 * c_in, 48), nn.LeakyReLU(alpha), nn.Linear(48, num_heads))

    def forward(self, node_feats, adj_matrix):
        batch_size, num_nodes = node_feats.size(0), node_feats.size(1)
        raw = node_feats
        node_feats = self.projection(node_feats)
        node_feats = node_feats.view(batch_size, num_nodes, self.num_heads, -1)

        edges = adj_matrix.nonzero(as_tuple=False)
        raw_flat = raw.view(batch_size * num_nodes, -1)
        edge_indices_row = edges[:, 0] * batch_size + edges[:, 1]
        edge_indices_col = edges[:, 0] * batch_size + edges[:, 2]
        a_input = torch.cat(
            [
                torch.index_select(raw_flat, index=edge_indices_row, dim=0),
                torch.index_select(raw_flat, index=edge_indices_col, dim=0),
            ],
            dim=-1,
        )
        attn_logits = self.score(a_input)

        attn_matrix = attn_logits.new_zeros(adj_matrix.shape + (self.num_heads,)).fill_(-9e15)
        attn_matrix[adj_matrix[..., None].repeat(1, 1, 1, self.num_heads) == 1] = attn_logits.reshape(-1)
        attn_probs = F.softmax(attn_matrix, dim=2)
        node_feats = torch.einsum("bijh,bjhc->bihc", attn_probs, node_feats)
        if self.concat_heads:
            return node_feats.reshape(batch_size, num_nodes, -1)
        return node_feats.mean(dim=2)


class GraphNet(nn.Module):
    def __init__(self, c_in, hidden, n_classes):
        super().__init__()
        self.gat = GATLayer(c_in, hidden, num_heads=4)
        self.out = nn.Sequential(nn.Linear(hidden + c_in, hidden), nn.ReLU(), nn.Linear(hidden, n_classes))

    def forward(self, x, adj):
        return self.out(torch.cat([self.gat(x, adj), x], -1))


def accuracy(net, feats, adj, label, bs):
    net.eval()
    hit = 0
    with torch.no_grad():
        for i in range(0, len(feats), bs):
            pred = net(feats[i:i + bs], adj[i:i + bs]).argmax(-1)
            hit += (pred == label[i:i + bs]).sum().item()
    net.train()
    return hit / label.numel()


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=12)
    ap.add_argument("--batch-size", type=int, default=16)
    ap.add_argument("--nodes", type=int, default=20)
    ap.add_argument("--symbols", type=int, default=5)
    ap.add_argument("--lr", type=float, default=3e-3)
    args = ap.parse_args()

    torch.manual_seed(4)
    gen = torch.Generator().manual_seed(11)
    tr = make_graphs(960, args.nodes, args.symbols, 0.2, gen)
    va = make_graphs(320, args.nodes, args.symbols, 0.2, gen)

    net = GraphNet(args.symbols + 1, 64, args.symbols)
    opt = torch.optim.Adam(net.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        perm = torch.randperm(len(tr[0]))
        total = 0.0
        for i in range(0, len(perm), args.batch_size):
            idx = perm[i:i + args.batch_size]
            logits = net(tr[0][idx], tr[1][idx])
            loss = F.cross_entropy(logits.flatten(0, 1), tr[2][idx].flatten())
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item() * len(idx)
        acc = accuracy(net, *va, bs=args.batch_size)
        print(f"epoch {epoch:02d}  train loss {total / len(perm):.4f}  val node acc {acc:.3f}")
