"""Speech-style transfer learning: some modules are frozen by the prefix of their name."""
import argparse
import logging

import torch
from torch import nn

logging.basicConfig(level=logging.INFO, format="%(levelname)s %(message)s")


class E2E(nn.Module):
    def __init__(self, idim, odim, units=32):
        super().__init__()
        self.enc = nn.GRU(idim, units, batch_first=True)
        self.ctc_lo = nn.Linear(units, odim)

    def forward(self, xs):
        hs, _ = self.enc(xs)
        return self.ctc_lo(hs.mean(1))


def freeze_modules(model, prefixes):
    """Switch off the training of all parameters whose name starts with one of the prefixes."""
    for mod, param in model.state_dict().items():
        if any(mod.startswith(key) for key in prefixes):
            param.requires_grad = False  # <- PM404
            logging.info("freezing %s", mod)
    return model


def utterances(n, odim, seed):
    g = torch.Generator().manual_seed(seed)
    ys = torch.randint(odim, (n,), generator=g)
    base = torch.linspace(0, 3, 12)[None, :, None] * (1 + ys[:, None, None])
    phase = torch.arange(8)[None, None, :]
    return torch.sin(base + phase) + 0.3 * torch.randn(n, 12, 8, generator=g), ys


def train(args):
    torch.manual_seed(args.seed)
    model = E2E(8, 4)
    xs, ys = utterances(640, 4, seed=10)
    dev_xs, dev_ys = utterances(160, 4, seed=11)
    if args.freeze_mods:
        model = freeze_modules(model, args.freeze_mods.split(","))
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        model.train()
        for chunk in torch.randperm(len(xs)).split(32):
            loss = nn.functional.cross_entropy(model(xs[chunk]), ys[chunk])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            acc = (model(dev_xs).argmax(-1) == dev_ys).float().mean().item()
        logging.info("epoch %d loss %.3f dev acc %.3f", epoch, loss.item(), acc)


if __name__ == "__main__":
    torch.set_num_threads(1)
    parser = argparse.ArgumentParser()
    parser.add_argument("--freeze-mods", default="enc.")
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--lr", type=float, default=1e-2)
    parser.add_argument("--seed", type=int, default=1)
    train(parser.parse_args())
