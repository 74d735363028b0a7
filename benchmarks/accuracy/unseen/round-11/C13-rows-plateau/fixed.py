import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

torch.set_num_threads(1)

CFG = {
    "seed": 4,
    "hidden": 64,
    "lr": 3e-3,
    "batch": 48,
    "epochs": 14,
    "plateau": {"mode": "max", "factor": 0.2, "patience": 1},
}


class RowReader(nn.Module):
    """Reads an 8x8 digit row by row."""

    def __init__(self, hidden):
        super().__init__()
        self.cell = nn.LSTMCell(8, hidden)
        self.hidden = hidden
        self.cls = nn.Linear(hidden, 10)

    def forward(self, img):
        h = img.new_zeros(len(img), self.hidden)
        c = torch.zeros_like(h)
        for r in range(8):
            h, c = self.cell(img[:, r], (h, c))
        return self.cls(h)


class Trainer:
    def __init__(self, cfg):
        torch.manual_seed(cfg["seed"])
        d = load_digits()
        x = torch.tensor(d.images, dtype=torch.float32) / 16 - 0.3
        y = torch.tensor(d.target)
        self.xtr, self.xva, self.ytr, self.yva = train_test_split(x, y, test_size=0.3, random_state=0, stratify=y)
        self.cfg = cfg
        self.model = RowReader(cfg["hidden"])
        self.criterion = nn.CrossEntropyLoss()
        self.optimizer = torch.optim.RMSprop(self.model.parameters(), lr=cfg["lr"])
        self.scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(self.optimizer, **cfg["plateau"])

    def train_epoch(self):
        self.model.train()
        total = 0.0
        for idx in torch.randperm(len(self.ytr)).split(self.cfg["batch"]):
            self.optimizer.zero_grad()
            loss = self.criterion(self.model(self.xtr[idx]), self.ytr[idx])
            loss.backward()
            self.optimizer.step()
            total += loss.item() * len(idx)
        return total / len(self.ytr)

    @torch.no_grad()
    def validate(self):
        self.model.eval()
        out = self.model(self.xva)
        return self.criterion(out, self.yva).item(), (out.argmax(1) == self.yva).float().mean().item()

    def fit(self):
        for epoch in range(self.cfg["epochs"]):
            tr = self.train_epoch()
            va, acc = self.validate()
            self.scheduler.step(acc)
            print(f"epoch {epoch:02d} loss {tr:.4f} val_loss {va:.4f} val_acc {acc:.4f}")


Trainer(CFG).fit()
