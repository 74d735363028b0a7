"""Small label-noise benchmark: MLP on the breast cancer table with early stopping on a clean split."""
from dataclasses import dataclass, field

import torch
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from torch import nn

torch.set_num_threads(1)


@dataclass
class Config:
    hidden: int = 256
    lr: float = 2e-3
    batch_size: int = 16
    max_epochs: int = 60
    noise: float = 0.3
    seed: int = 11
    dims: list = field(default_factory=lambda: [30, 256, 256, 2])


class Run:
    def __init__(self, cfg: Config):
        self.cfg = cfg
        torch.manual_seed(cfg.seed)
        x, y = load_breast_cancer(return_X_y=True)
        xtr, xte, ytr, yte = train_test_split(x, y, test_size=0.35, random_state=cfg.seed, stratify=y)
        xva, xte, yva, yte = train_test_split(xte, yte, test_size=0.5, random_state=cfg.seed, stratify=yte)
        sc = StandardScaler().fit(xtr)
        t = lambda a: torch.tensor(sc.transform(a), dtype=torch.float32)
        self.xtr, self.xva, self.xte = t(xtr), t(xva), t(xte)
        self.ytr, self.yva, self.yte = map(torch.tensor, (ytr, yva, yte))
        flip = torch.rand(len(self.ytr)) < cfg.noise
        self.ytr = torch.where(flip, 1 - self.ytr, self.ytr)
        layers = []
        for a, b in zip(cfg.dims[:-1], cfg.dims[1:]):
            layers += [nn.Linear(a, b), nn.ReLU()]
        self.net = nn.Sequential(*layers[:-1])
        self.opt = torch.optim.Adam(self.net.parameters(), lr=cfg.lr)
        self.best_val, self.best_epoch, self.best_weights = float("inf"), -1, None

    @torch.no_grad()
    def evaluate(self, x, y):
        self.net.eval()
        out = self.net(x)
        self.net.train()
        return nn.functional.cross_entropy(out, y).item(), (out.argmax(1) == y).float().mean().item()

    def snapshot(self):
        return {k: v.detach().clone() for k, v in self.net.state_dict().items()}

    def fit(self):
        n = len(self.ytr)
        for epoch in range(self.cfg.max_epochs):
            total = 0.0
            for idx in torch.randperm(n).split(self.cfg.batch_size):
                loss = nn.functional.cross_entropy(self.net(self.xtr[idx]), self.ytr[idx])
                self.opt.zero_grad(set_to_none=True)
                loss.backward()
                self.opt.step()
                total += loss.item() * len(idx)
            val_loss, val_acc = self.evaluate(self.xva, self.yva)
            if val_loss < self.best_val:
                self.best_val, self.best_epoch = val_loss, epoch
                self.best_weights = self.snapshot()
            if epoch % 5 == 0 or epoch == self.cfg.max_epochs - 1:
                print(f"{epoch:3d} train {total / n:.4f} val {val_loss:.4f} acc {val_acc:.4f}")

    def finish(self):
        self.net.load_state_dict(self.best_weights)
        val_loss, val_acc = self.evaluate(self.xva, self.yva)
        test_loss, test_acc = self.evaluate(self.xte, self.yte)
        print(f"best epoch {self.best_epoch} (val {self.best_val:.4f}); restored: val {val_loss:.4f}/{val_acc:.4f} test {test_loss:.4f}/{test_acc:.4f}")


if __name__ == "__main__":
    run = Run(Config())
    run.fit()
    run.finish()
