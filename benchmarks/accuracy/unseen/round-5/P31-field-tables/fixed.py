from dataclasses import dataclass, field

import torch
from torch import nn


@dataclass
class Config:
    fields: dict = field(default_factory=lambda: {"store": 90, "product": 160, "weekday": 7, "supplier": 60})
    width: int = 4
    hidden: int = 32
    lr: float = 5e-3
    steps: int = 700
    batch: int = 128
    seed: int = 5


class DemandModel(nn.Module):
    """One table of vectors for every categorical column, then two dense layers."""

    def __init__(self, cfg):
        super().__init__()
        self.names = list(cfg.fields)
        self.tables = nn.ModuleDict()
        for name, size in cfg.fields.items():
            self.tables[name] = nn.Embedding(size, cfg.width)
        self.dense = nn.Sequential(
            nn.Linear(cfg.width * len(self.names), cfg.hidden), nn.ReLU(), nn.Linear(cfg.hidden, 1)
        )

    def forward(self, columns):
        vectors = [self.tables[name](columns[:, i]) for i, name in enumerate(self.names)]
        return self.dense(torch.cat(vectors, dim=1)).squeeze(1)


class Sales:
    def __init__(self, cfg, generator):
        self.cfg, self.generator = cfg, generator
        self.effects = [torch.randn(size, generator=generator) for size in cfg.fields.values()]

    def sample(self, n):
        columns = torch.stack([torch.randint(0, len(e), (n,), generator=self.generator) for e in self.effects], 1)
        level = sum(e[columns[:, i]] for i, e in enumerate(self.effects))
        return columns, level / 2 + 0.2 * torch.randn(n, generator=self.generator)


def main(cfg):
    torch.manual_seed(5)
    torch.set_num_threads(1)
    sales = Sales(cfg, torch.Generator().manual_seed(cfg.seed))
    train_x, train_y = sales.sample(12000)
    val_x, val_y = sales.sample(2000)
    model = DemandModel(cfg)
    optimizer = torch.optim.Adam(model.parameters(), lr=cfg.lr)
    for step in range(cfg.steps):
        rows = torch.randint(0, len(train_x), (cfg.batch,))
        loss = nn.functional.mse_loss(model(train_x[rows]), train_y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 100 == 99:
            with torch.no_grad():
                r2 = 1 - (model(val_x) - val_y).pow(2).mean() / val_y.var()
            print(f"step {step + 1}  loss {loss.item():.3f}  val R2 {r2.item():.3f}")


if __name__ == "__main__":
    main(Config())
