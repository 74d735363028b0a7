"""Train a small BN convnet on digits, keep an exponential moving average for evaluation."""
import copy

import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits

torch.set_num_threads(1)


class EMA(nn.Module):
    def __init__(self, model, beta=0.99, update_after_step=20, update_every=1):
        super().__init__()
        self.online_model = [model]
        self.ma_model = copy.deepcopy(model)
        self.ma_model.requires_grad_(False)
        self.beta = beta
        self.update_after_step = update_after_step
        self.update_every = update_every
        self.step = 0

    @property
    def model(self):
        return self.online_model[0]

    def copy_params(self):
        for ma, cur in zip(self.ma_model.parameters(), self.model.parameters()):
            ma.data.copy_(cur.data)

    def copy_buffers(self):
        for (name, ma_buf), (_, buf) in zip(self.ma_model.named_buffers(), self.model.named_buffers()):
            ma_buf.data.copy_(buf.data)

    @torch.no_grad()
    def update(self):
        self.step += 1
        if self.step % self.update_every:
            return
        if self.step <= self.update_after_step:
            self.copy_params()
            self.copy_buffers()
            return
        for ma, cur in zip(self.ma_model.parameters(), self.model.parameters()):
            ma.data.lerp_(cur.data, 1 - self.beta)
        self.copy_buffers()

    def forward(self, x):
        return self.ma_model(x)


def block(i, o):
    return nn.Sequential(nn.Conv2d(i, o, 3, padding=1, bias=False), nn.BatchNorm2d(o), nn.ReLU())


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(block(1, 12), block(12, 12), nn.MaxPool2d(2), block(12, 24), nn.MaxPool2d(2))
        self.fc = nn.Linear(96, 10)

    def forward(self, x):
        return self.fc(self.features(x).flatten(1))


def score(m, x, y):
    m.eval()
    with torch.no_grad():
        out = m(x)
    m.train()
    return F.cross_entropy(out, y).item(), (out.argmax(1) == y).float().mean().item()


if __name__ == "__main__":
    torch.manual_seed(5)
    d = load_digits()
    x = torch.tensor(d.images, dtype=torch.float32)[:, None] / 8 - 1
    y = torch.tensor(d.target)
    perm = torch.randperm(len(y))
    tr, te = perm[:1300], perm[1300:]
    net = Net()
    ema = EMA(net)
    opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9, weight_decay=5e-4)
    for epoch in range(9):
        tot = 0.0
        for b in tr[torch.randperm(len(tr))].split(65):
            loss = F.cross_entropy(net(x[b]), y[b])
            opt.zero_grad()
            loss.backward()
            opt.step()
            ema.update()
            tot += loss.item() * len(b)
        l, a = score(net, x[te], y[te])
        le, ae = score(ema, x[te], y[te])
        print(f"[{epoch}] train {tot / len(tr):.4f} | online loss {l:.4f} acc {a:.4f} | ema loss {le:.4f} acc {ae:.4f}")
