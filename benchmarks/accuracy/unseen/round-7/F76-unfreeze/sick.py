"""Two-phase transfer learning: warm up the head, then unfreeze the encoder."""
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class Config:
    warm_epochs: int = 4
    full_epochs: int = 14
    lr: float = 3e-3
    batch: int = 40
    seed: int = 0


def sequences(n, seed, rule):
    g = torch.Generator().manual_seed(seed)
    x = torch.randint(0, 20, (n, 10), generator=g)
    if rule == "source":
        y = (x[:, :3].sum(1) % 2)
    else:
        y = ((x == 7).sum(1) + (x == 13).sum(1) > 0).long()
    return x, y


class TextNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.ModuleDict({"emb": nn.Embedding(20, 4), "mix": nn.Linear(40, 64)})
        self.head = nn.Linear(64, 2)

    def forward(self, x):
        h = self.encoder["emb"](x).flatten(1)
        return self.head(torch.relu(self.encoder["mix"](h)))


class Finetuner:
    def __init__(self, model, cfg):
        self.model, self.cfg = model, cfg
        self.set_encoder(False)
        trainable = filter(lambda p: p.requires_grad, model.parameters())
        self.opt = torch.optim.Adam(trainable, lr=cfg.lr)

    def set_encoder(self, flag):
        for p in self.model.encoder.parameters():
            p.requires_grad = flag

    def epoch(self, x, y):
        self.model.train()
        perm = torch.randperm(len(x))
        total, k = 0.0, 0
        for i in range(0, len(x), self.cfg.batch):
            j = perm[i:i + self.cfg.batch]
            loss = F.cross_entropy(self.model(x[j]), y[j])
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
            total, k = total + loss.item(), k + 1
        return total / k

    @torch.no_grad()
    def accuracy(self, x, y):
        self.model.eval()
        return (self.model(x).argmax(1) == y).float().mean().item()

    def fit(self, train, val):
        for e in range(self.cfg.warm_epochs + self.cfg.full_epochs):
            if e == self.cfg.warm_epochs:
                self.set_encoder(True)
                print("encoder unfrozen")
            loss = self.epoch(*train)
            if e % 3 == 0 or e == self.cfg.warm_epochs + self.cfg.full_epochs - 1:
                print(f"epoch {e:2d} loss {loss:.4f} val acc {self.accuracy(*val):.3f}")


if __name__ == "__main__":
    cfg = Config()
    torch.manual_seed(cfg.seed)
    model = TextNet()
    Finetuner(model, cfg).fit(sequences(1600, 1, "target"), sequences(400, 2, "target"))
