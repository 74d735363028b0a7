"""Iterative magnitude pruning with torch.nn.utils.prune and rewinding to early weights: 90 % of the weights go, accuracy stays."""
import copy

import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.nn.utils import prune


def build():
    return nn.Sequential(nn.Linear(64, 96), nn.ReLU(), nn.Linear(96, 48), nn.ReLU(), nn.Linear(48, 10))


def linears(net):
    return [m for m in net if isinstance(m, nn.Linear)]


def fit(net, x, y, epochs):
    opt = torch.optim.Adam(net.parameters(), lr=3e-3)
    net.train()
    for _ in range(epochs):
        for idx in torch.randperm(len(x)).split(50):
            loss = nn.functional.cross_entropy(net(x[idx]), y[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
    return loss.item()


@torch.no_grad()
def accuracy(net, x, y):
    net.eval()
    return (net(x).argmax(1) == y).float().mean().item()


def rewind(net, early):
    """Back to the weights of the first epoch; the masks stay."""
    with torch.no_grad():
        for layer, old in zip(linears(net), linears(early)):
            layer.weight_orig.copy_(old.weight)
            layer.bias.copy_(old.bias)


def main():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    d = load_digits()
    x, y = torch.tensor(d.data, dtype=torch.float32) / 16, torch.tensor(d.target)
    x, vx, y, vy = x[:1400], x[1400:], y[:1400], y[1400:]
    net = build()
    fit(net, x, y, 1)
    early = copy.deepcopy(net)
    print(f"dense: loss {fit(net, x, y, 6):.4f} accuracy {accuracy(net, vx, vy):.3f}")
    for share in (0.5, 0.5, 0.6):
        prune.global_unstructured([(m, "weight") for m in linears(net)], prune.L1Unstructured, amount=share)
        rewind(net, early)
        loss = fit(net, x, y, 6)
        left = sum(m.weight_mask.sum().item() for m in linears(net)) / sum(m.weight_mask.numel() for m in linears(net))
        print(f"{left:.2f} of the weights left: loss {loss:.4f} accuracy {accuracy(net, vx, vy):.3f}")
    for m in linears(net):
        prune.remove(m, "weight")
    print(f"made permanent: accuracy {accuracy(net, vx, vy):.3f}, zero weights {(net[0].weight == 0).float().mean():.2f}")


if __name__ == "__main__":
    main()
