"""Fraud detector with a focal loss, trained through Accelerate in bf16 mixed precision."""
import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from sklearn.datasets import make_classification
from sklearn.metrics import average_precision_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

CONFIG = {"lr": 2e-3, "epochs": 12, "batch_size": 64, "gamma": 2.0, "alpha": 0.75}


class FocalLoss(nn.Module):
    """alpha-balanced focal loss on logits, probabilities kept away from 0 and 1"""

    def __init__(self, gamma, alpha, eps=1e-4):
        super().__init__()
        self.gamma, self.alpha, self.eps = gamma, alpha, eps

    def forward(self, logits, target):
        p = torch.sigmoid(logits).clamp(self.eps, 1 - self.eps)
        pos = -self.alpha * target * (1 - p) ** self.gamma * torch.log(p)
        neg = -(1 - self.alpha) * (1 - target) * p ** self.gamma * torch.log(1 - p)
        return (pos + neg).mean()


class FraudNet(nn.Module):
    def __init__(self, n_in, cfg, width=96):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(n_in, width), nn.SiLU(), nn.Linear(width, width), nn.SiLU(), nn.Linear(width, 1),
        )
        self.loss = FocalLoss(cfg["gamma"], cfg["alpha"])

    def forward(self, x, y=None):
        logits = self.net(x).squeeze(-1)
        if y is None:
            return logits
        return logits, self.loss(logits, y)


def dataloaders(cfg):
    X, y = make_classification(n_samples=3000, n_features=30, n_informative=12, weights=[0.85], class_sep=2.0,
                               flip_y=0.005, random_state=4)
    xtr, xte, ytr, yte = train_test_split(X, y, test_size=0.2, stratify=y, random_state=4)
    sc = StandardScaler().fit(xtr)
    make = lambda a, b: TensorDataset(torch.tensor(sc.transform(a), dtype=torch.float32), torch.tensor(b, dtype=torch.float32))
    return (DataLoader(make(xtr, ytr), batch_size=cfg["batch_size"], shuffle=True),
            DataLoader(make(xte, yte), batch_size=256))


def training_function(cfg):
    accelerator = Accelerator(mixed_precision="bf16", cpu=True)
    set_seed(0)
    train_dl, test_dl = dataloaders(cfg)
    model = FraudNet(30, cfg)
    optimizer = torch.optim.AdamW(model.parameters(), lr=cfg["lr"])
    model, optimizer, train_dl, test_dl = accelerator.prepare(model, optimizer, train_dl, test_dl)
    for epoch in range(cfg["epochs"]):
        model.train()
        total = 0.0
        for x, y in train_dl:
            _, loss = model(x, y)
            accelerator.backward(loss)
            accelerator.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
            total += loss.item()
        model.eval()
        scores, truth = [], []
        with torch.no_grad():
            for x, y in test_dl:
                s, t = accelerator.gather_for_metrics((model(x), y))
                scores.append(s.float()), truth.append(t)
        scores = torch.nan_to_num(torch.cat(scores))
        ap = average_precision_score(torch.cat(truth).numpy(), scores.numpy())
        accelerator.print(f"epoch {epoch}: loss {total / len(train_dl):.5f} average precision {ap:.3f}")


if __name__ == "__main__":
    training_function(CONFIG)
