import dataclasses

import numpy as np
import pandas as pd
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, Dataset

NAMES = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]


@dataclasses.dataclass
class Config:
    epochs: int = 15
    batch_size: int = 64
    lr: float = 2e-3
    hidden: int = 96
    dropout: float = 0.2
    seed: int = 3
    holdout: float = 0.25


def build_frames(cfg):
    """The table as it is delivered: 64 pixel columns and a `tag` column with the class name."""
    raw = load_digits()
    frame = pd.DataFrame(raw.data.astype(np.float32), columns=[f"px{i}" for i in range(64)])
    frame["tag"] = [NAMES[t] for t in raw.target]
    frame = frame.sample(frac=1.0, random_state=cfg.seed).reset_index(drop=True)
    cut = int(len(frame) * (1 - cfg.holdout))
    return frame.iloc[:cut].reset_index(drop=True), frame.iloc[cut:].reset_index(drop=True)


class TagTable(Dataset):
    def __init__(self, frame):
        pixels = [c for c in frame.columns if c.startswith("px")]
        self.x = torch.from_numpy(frame[pixels].to_numpy(copy=True)) / 16.0
        self.classes = sorted(frame["tag"].unique())
        lookup = {name: i for i, name in enumerate(self.classes)}
        self.y = torch.tensor([lookup[t] for t in frame["tag"]])

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


class Net(nn.Module):
    def __init__(self, cfg, n_out):
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(64, cfg.hidden), nn.ReLU(), nn.Dropout(cfg.dropout),
            nn.Linear(cfg.hidden, cfg.hidden), nn.ReLU(), nn.Dropout(cfg.dropout))
        self.out = nn.Linear(cfg.hidden, n_out)

    def forward(self, x):
        return self.out(self.body(x))


class Trainer:
    def __init__(self, cfg, model, train_set, valid_set):
        self.cfg, self.model = cfg, model
        self.train_loader = DataLoader(train_set, batch_size=cfg.batch_size, shuffle=True)
        self.valid_loader = DataLoader(valid_set, batch_size=256)
        self.loss = nn.CrossEntropyLoss()
        self.opt = torch.optim.Adam(model.parameters(), lr=cfg.lr)

    def train_epoch(self):
        self.model.train()
        seen, total = 0, 0.0
        for x, y in self.train_loader:
            self.opt.zero_grad(set_to_none=True)
            loss = self.loss(self.model(x), y)
            loss.backward()
            self.opt.step()
            total += loss.item() * len(y)
            seen += len(y)
        return total / seen

    @torch.inference_mode()
    def validate(self):
        self.model.eval()
        seen, total, hits = 0, 0.0, 0
        for x, y in self.valid_loader:
            logits = self.model(x)
            total += self.loss(logits, y).item() * len(y)
            hits += (logits.argmax(-1) == y).sum().item()
            seen += len(y)
        return total / seen, hits / seen

    def fit(self):
        for epoch in range(1, self.cfg.epochs + 1):
            tr = self.train_epoch()
            va, acc = self.validate()
            if epoch % 5 == 0 or epoch == 1:
                print(f"[{epoch:02d}/{self.cfg.epochs}] train_loss={tr:.3f} val_loss={va:.3f} val_acc={acc:.3f}")
        return acc


if __name__ == "__main__":
    cfg = Config()
    torch.manual_seed(cfg.seed)
    train_frame, valid_frame = build_frames(cfg)
    train_set, valid_set = TagTable(train_frame), TagTable(valid_frame)
    print("classes:", len(train_set.classes), "rows:", len(train_set), "/", len(valid_set))
    trainer = Trainer(cfg, Net(cfg, len(train_set.classes)), train_set, valid_set)
    print("final accuracy: %.3f" % trainer.fit())
