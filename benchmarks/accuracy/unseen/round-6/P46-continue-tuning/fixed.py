import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("--pretrain-epochs", type=int, default=8)
    p.add_argument("--finetune-epochs", type=int, default=12)
    p.add_argument("--lr", type=float, default=0.05)
    p.add_argument("--finetune-lr", type=float, default=0.02)
    return p.parse_args()


def make_net():
    return nn.Sequential(nn.Linear(64, 80), nn.ReLU(), nn.Linear(80, 80), nn.ReLU(), nn.Linear(80, 10))


def loop(net, opt, x, y, epochs, tag, scheduler=None, val=None):
    for e in range(epochs):
        net.train()
        for b in torch.randperm(len(y)).split(32):
            opt.zero_grad()
            loss = F.cross_entropy(net(x[b]), y[b])
            loss.backward()
            opt.step()
        if scheduler is not None:
            scheduler.step()
        if val is not None and e % 3 == 2:
            net.eval()
            with torch.no_grad():
                acc = (net(val[0]).argmax(1) == val[1]).float().mean()
            print(f"{tag} epoch {e + 1}: loss {loss.item():.3f} accuracy on turned digits {acc:.3f}")


def main():
    args = parse()
    torch.manual_seed(1)
    torch.set_num_threads(1)
    d = load_digits()
    y = torch.tensor(d.target)
    upright = torch.tensor(d.images, dtype=torch.float32) / 16
    turned = torch.rot90(upright, 1, (1, 2))
    upright, turned = upright.flatten(1), turned.flatten(1)

    net = make_net()
    opt = torch.optim.SGD(net.parameters(), lr=args.lr, momentum=0.9)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=args.pretrain_epochs, eta_min=1e-6)
    loop(net, opt, upright[:1200], y[:1200], args.pretrain_epochs, "pretrain", sched)
    torch.save({"model": net.state_dict(), "optimizer": opt.state_dict()}, "stage1.pt")

    ckpt = torch.load("stage1.pt")
    net = make_net()
    net.load_state_dict(ckpt["model"])
    opt = torch.optim.SGD(net.parameters(), lr=args.finetune_lr, momentum=0.9)
    loop(net, opt, turned[:1200], y[:1200], args.finetune_epochs, "finetune", val=(turned[1200:], y[1200:]))


if __name__ == "__main__":
    main()
