"""SimCLR-style pre-training on digits photographed under changing light, then a linear probe with few labels."""
import argparse

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

torch.set_num_threads(1)


def light_field(n, gen):
    """smooth additive illumination, different for every picture"""
    c = torch.randn(n, 5, generator=gen)
    yy, xx = torch.meshgrid(torch.linspace(-1, 1, 8), torch.linspace(-1, 1, 8), indexing="ij")
    basis = torch.stack([torch.ones(8, 8), xx, yy, xx * yy, xx ** 2 - yy ** 2])
    return torch.einsum("nk,kij->nij", c, basis)


class RandomLight:
    def __init__(self, gen, strength=1.0):
        self.gen, self.strength = gen, strength

    def __call__(self, img):
        img += self.strength * light_field(len(img), self.gen)
        return img


class RandomErase:
    def __init__(self, gen, size=2):
        self.gen, self.size = gen, size

    def __call__(self, img):
        y, x = torch.randint(0, 8 - self.size, (2,), generator=self.gen).tolist()
        img[:, y:y + self.size, x:x + self.size] = 0.0
        return img


class Compose:
    def __init__(self, *ts):
        self.ts = ts

    def __call__(self, img):
        for t in self.ts:
            img = t(img)
        return img


class Encoder(nn.Module):
    def __init__(self, dim=64, proj=32):
        super().__init__()
        self.backbone = nn.Sequential(nn.Flatten(), nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, dim))
        self.projector = nn.Sequential(nn.ReLU(), nn.Linear(dim, dim), nn.ReLU(), nn.Linear(dim, proj))

    def forward(self, x):
        h = self.backbone(x)
        return h, F.normalize(self.projector(h), dim=1)


def nt_xent(z1, z2, tau):
    z = torch.cat([z1, z2])
    n = len(z1)
    sim = (z @ z.t() / tau).masked_fill(torch.eye(2 * n, dtype=torch.bool), -1e9)
    target = torch.cat([torch.arange(n, 2 * n), torch.arange(n)])
    return F.cross_entropy(sim, target)


def probe(encoder, xl, yl, xt, yt):
    with torch.no_grad():
        hl, ht = encoder.backbone(xl), encoder.backbone(xt)
    clf = LogisticRegression(max_iter=200).fit(hl.numpy(), yl)
    return clf.score(ht.numpy(), yt)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=24)
    ap.add_argument("--tau", type=float, default=0.2)
    ap.add_argument("--labels", type=int, default=100)
    args = ap.parse_args()

    torch.manual_seed(0)
    np.random.seed(0)
    gen = torch.Generator().manual_seed(3)
    d = load_digits()
    imgs = torch.tensor(d.images / 8.0 - 1.0, dtype=torch.float32)
    imgs = imgs + light_field(len(imgs), gen)
    itr, ite = train_test_split(np.arange(len(imgs)), test_size=0.3, random_state=0, stratify=d.target)
    lab = itr[: args.labels]

    augment = Compose(RandomLight(gen), RandomErase(gen))
    enc = Encoder()
    opt = torch.optim.Adam(enc.parameters(), lr=1e-3)
    for epoch in range(1, args.epochs + 1):
        total = 0.0
        for ids in torch.randperm(len(itr)).split(128):
            batch = imgs[itr[ids.numpy()]]
            v1, v2 = augment(batch), augment(batch)
            loss = nt_xent(enc(v1)[1], enc(v2)[1], args.tau)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item() * len(ids)
        if epoch % 6 == 0:
            acc = probe(enc, imgs[lab], d.target[lab], imgs[ite], d.target[ite])
            print(f"epoch {epoch:2d} nt-xent {total / len(itr):.4f} linear probe acc {acc:.4f}")


if __name__ == "__main__":
    main()
