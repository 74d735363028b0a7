"""Predict which servers of a network become overloaded, from the requests that their callers send."""
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn


@dataclass
class Config:
    nodes: int = 1500
    features: int = 8
    out_degree: int = 6
    hidden: int = 32
    lr: float = 0.01
    steps: int = 250
    seed: int = 3


def build_network(cfg):
    """Directed calls: edges[0] is the caller, edges[1] the server that is called.

    A server is overloaded when the mean pressure of those who call it is above the median.
    """
    g = torch.Generator().manual_seed(cfg.seed)
    x = torch.randn(cfg.nodes, cfg.features, generator=g)
    caller = torch.arange(cfg.nodes).repeat_interleave(cfg.out_degree)
    server = torch.randint(0, cfg.nodes, (len(caller),), generator=g)
    edges = torch.stack([caller, server])
    weight = torch.randn(cfg.features, generator=g)
    pressure = torch.tanh(x @ weight) + 0.5 * x[:, 0] * x[:, 1]
    incoming = torch.zeros(cfg.nodes).index_add_(0, server, pressure[caller])
    degree = torch.bincount(server, minlength=cfg.nodes).clamp(min=1)
    load = incoming / degree + 0.1 * torch.randn(cfg.nodes, generator=g)
    y = (load > load.median()).long()
    order = torch.randperm(cfg.nodes, generator=g)
    cut = int(0.6 * cfg.nodes)
    return x, edges, y, order[:cut], order[cut:]


class MeanConv(nn.Module):
    """h_i = W_self x_i + mean over neighbours j of W_msg x_j"""

    def __init__(self, d_in, d_out):
        super().__init__()
        self.own = nn.Linear(d_in, d_out)
        self.msg = nn.Linear(d_in, d_out, bias=False)

    def forward(self, x, edges):
        row, col = edges
        messages = self.msg(x)[col]
        total = torch.zeros(x.size(0), messages.size(1)).index_add_(0, row, messages)
        count = torch.bincount(row, minlength=x.size(0)).clamp(min=1).unsqueeze(1)
        return self.own(x) + total / count


class LoadNet(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.encode = nn.Sequential(nn.Linear(cfg.features, cfg.hidden), nn.ReLU(),
                                    nn.Linear(cfg.hidden, cfg.hidden), nn.ReLU())
        self.conv = MeanConv(cfg.hidden, cfg.hidden)
        self.drop = nn.Dropout(0.3)
        self.head = nn.Linear(cfg.hidden, 2)

    def forward(self, x, edges):
        h = self.encode(x)
        h = F.relu(self.conv(h, edges))
        return self.head(self.drop(h))


def accuracy(model, x, edges, y, index):
    model.eval()
    with torch.no_grad():
        hit = (model(x, edges)[index].argmax(1) == y[index]).float().mean().item()
    model.train()
    return hit


def main():
    cfg = Config()
    torch.manual_seed(cfg.seed)
    torch.set_num_threads(1)
    x, edges, y, train_idx, test_idx = build_network(cfg)
    model = LoadNet(cfg)
    optimizer = torch.optim.AdamW(model.parameters(), lr=cfg.lr, weight_decay=1e-2)
    for step in range(1, cfg.steps + 1):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x, edges)[train_idx], y[train_idx])
        loss.backward()
        optimizer.step()
        if step % 25 == 0:
            print(f"step {step:4d} loss {loss.item():.4f} "
                  f"train {accuracy(model, x, edges, y, train_idx):.3f} "
                  f"test {accuracy(model, x, edges, y, test_idx):.3f}")


if __name__ == "__main__":
    main()
