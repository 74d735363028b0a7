import argparse

import torch
from torch import nn


def spectra(n, gen):
    """Counts per channel, always positive, with a bump whose place is the material."""
    y = torch.randint(0, 6, (n,), generator=gen)
    c = torch.arange(48.0)
    bump = torch.exp(-((c[None] - 6 - 7 * y[:, None]) ** 2) / 6)
    x = 4 + 2 * torch.rand(n, 1, generator=gen) + 2.5 * bump + 0.8 * torch.randn(n, 48, generator=gen)
    return 3 * x, y


def build():
    return nn.Sequential(
        nn.Linear(48, 64), nn.BatchNorm1d(64), nn.ReLU(),
        nn.Linear(64, 64), nn.BatchNorm1d(64), nn.ReLU(),
        nn.Linear(64, 6),
    )


def add_to_average(average, model, n):
    for name, tensor in model.named_parameters():  # <- PM418
        value = tensor.detach().float()
        average[name] = value.clone() if n == 0 else average[name] + (value - average[name]) / (n + 1)


@torch.no_grad()
def accuracy(model, x, y):
    model.eval()
    return (model(x).argmax(1) == y).float().mean().item()


def main(argv=None):
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=12)
    ap.add_argument("--average-from", type=int, default=7)
    ap.add_argument("--lr", type=float, default=0.02)
    a = ap.parse_args(argv)
    torch.manual_seed(1)
    torch.set_num_threads(1)
    gen = torch.Generator().manual_seed(1)
    x, y = spectra(1500, gen)
    vx, vy = spectra(500, gen)
    model, average, n = build(), {}, 0
    opt = torch.optim.SGD(model.parameters(), lr=a.lr, momentum=0.9)
    for epoch in range(a.epochs):
        model.train()
        for idx in torch.randperm(len(x), generator=gen).split(50):
            loss = nn.functional.cross_entropy(model(x[idx]), y[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
        if epoch >= a.average_from:
            add_to_average(average, model, n)
            n += 1
        print(f"epoch {epoch} loss {loss.item():.4f} val accuracy {accuracy(model, vx, vy):.3f}")
    averaged = build()
    averaged.load_state_dict(average, strict=False)
    print(f"averaged over {n} epochs: val accuracy {accuracy(averaged, vx, vy):.3f}")


if __name__ == "__main__":
    main()
