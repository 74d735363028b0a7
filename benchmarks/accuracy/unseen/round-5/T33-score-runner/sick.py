import copy
import logging
import sys
from types import SimpleNamespace

import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import scale

logging.basicConfig(stream=sys.stdout, level=logging.INFO, format="%(message)s")


class Net(nn.Module):
    def __init__(self, d, h, p):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(d, h), nn.BatchNorm1d(h), nn.ReLU(), nn.Dropout(p),
            nn.Linear(h, h), nn.BatchNorm1d(h), nn.ReLU(), nn.Dropout(p), nn.Linear(h, 2),
        )

    def forward(self, x):
        return self.layers(x)


class Runner:
    def __init__(self, config):
        self.config = config

    def get_data(self):
        x, y = load_breast_cancer(return_X_y=True)
        g = torch.Generator().manual_seed(self.config.data_seed)
        x, y = torch.tensor(scale(x), dtype=torch.float32), torch.tensor(y)
        x = x + 1.4 * torch.randn(x.shape, generator=g)
        noisy = torch.rand(len(y), generator=g) < 0.12
        order = torch.randperm(len(y), generator=g)
        train, test = order[:220], order[220:]
        y_train = torch.where(noisy, 1 - y, y)[train]
        return x[train], y_train, x[test], y[test]

    def train(self):
        cfg = self.config
        x, y, x_test, y_test = self.get_data()
        score = Net(x.shape[1], cfg.hidden, cfg.dropout)
        optimizer = torch.optim.Adam(score.parameters(), lr=cfg.lr)
        step = 0
        score.train()
        for epoch in range(cfg.epochs):
            for rows in torch.randperm(len(x)).split(cfg.batch):
                step += 1
                loss = F.cross_entropy(score(x[rows]), y[rows])
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                if step % cfg.log_every == 0:
                    score.eval()
                    with torch.no_grad():
                        out = score(x_test)
                        test_loss = F.cross_entropy(out, y_test)
                        acc = (out.argmax(1) == y_test).float().mean()
                    logging.info(f"step {step}, loss {loss.item():.3f}, test loss {test_loss:.3f}, test accuracy {acc:.3f}")
        return copy.deepcopy(score)


torch.manual_seed(35)
torch.set_num_threads(1)
Runner(SimpleNamespace(data_seed=35, hidden=128, dropout=0.6, lr=1e-3, batch=20, epochs=70, log_every=110)).train()
