"""Deep plain convnet on 8x8 digits with validation every few hundred samples."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split


class ConvBN(nn.Module):
    def __init__(self, cin, cout, stride=1):
        super().__init__()
        self.conv = nn.Conv2d(cin, cout, 3, stride=stride, padding=1, bias=False)
        self.bn = nn.BatchNorm2d(cout)

    def forward(self, x):
        return F.relu(self.bn(self.conv(x)))


class DeepNet(nn.Module):
    def __init__(self, depth=9, width=20):
        super().__init__()
        layers = [ConvBN(1, width)]
        layers += [ConvBN(width, width) for _ in range(depth // 2)]
        layers += [ConvBN(width, 2 * width, stride=2)]
        layers += [ConvBN(2 * width, 2 * width) for _ in range(depth // 2)]
        self.features = nn.Sequential(*layers)
        self.fc = nn.Linear(2 * width, 10)

    def forward(self, x):
        return self.fc(self.features(x).mean((2, 3)))


class Solver:
    def __init__(self, model, data, lr=0.05, batch_size=32, val_interval=30, max_iter=280):
        self.model = model
        (self.xtr, self.ytr), (self.xva, self.yva) = data
        self.opt = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9, weight_decay=1e-4)
        self.sched = torch.optim.lr_scheduler.CosineAnnealingLR(self.opt, max_iter)
        self.batch_size = batch_size
        self.val_interval = val_interval
        self.max_iter = max_iter
        self.iteration = 0
        self.gen = torch.Generator().manual_seed(0)

    def validate(self):
        self.model.eval()
        with torch.no_grad():
            logits = self.model(self.xva)
            loss = F.cross_entropy(logits, self.yva).item()
            acc = (logits.argmax(1) == self.yva).float().mean().item()
        print(f"iter {self.iteration:4d}  val loss {loss:.4f}  val acc {acc:.4f}")
        self.model.train()
        return acc

    def train_epoch(self):
        order = torch.randperm(len(self.xtr), generator=self.gen)
        for idx in order.split(self.batch_size):
            if len(idx) < self.batch_size or self.iteration >= self.max_iter:
                break
            if self.iteration % self.val_interval == 0:
                self.validate()
            self.opt.zero_grad()
            loss = F.cross_entropy(self.model(self.xtr[idx]), self.ytr[idx])
            loss.backward()
            self.opt.step()
            self.sched.step()
            self.iteration += 1
            if self.iteration % 20 == 0:
                print(f"iter {self.iteration:4d}  train loss {loss.item():.4f}")

    def train(self):
        self.model.train()
        while self.iteration < self.max_iter:
            self.train_epoch()
        return self.validate()


def main():
    torch.manual_seed(4)
    digits = load_digits()
    x = torch.tensor(digits.images, dtype=torch.float32).unsqueeze(1)
    y = torch.tensor(digits.target)
    tr, va = train_test_split(torch.arange(len(y)), test_size=0.25, stratify=digits.target, random_state=4)
    mean, std = x[tr].mean(), x[tr].std()
    x = (x - mean) / std
    solver = Solver(DeepNet(), ((x[tr], y[tr]), (x[va], y[va])))
    print(f"final accuracy {solver.train():.4f}")


if __name__ == "__main__":
    main()
