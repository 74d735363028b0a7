import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset


def options():
    p = argparse.ArgumentParser()
    p.add_argument("--accum-steps", type=int, default=32)
    p.add_argument("--micro-batch", type=int, default=4)
    p.add_argument("--lr", type=float, default=0.15)
    p.add_argument("--epochs", type=int, default=12)
    return p.parse_args()


class LeafNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.c1 = nn.Conv2d(1, 8, 3, padding=1)
        self.c2 = nn.Conv2d(8, 16, 3, padding=1)
        self.fc = nn.Linear(64, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.c1(x)), 2)
        x = F.max_pool2d(F.relu(self.c2(x)), 2)
        return self.fc(x.flatten(1))


def main(opt):
    torch.manual_seed(2)
    torch.set_num_threads(1)
    d = load_digits()
    x, y = torch.tensor(d.images, dtype=torch.float32)[:, None] / 16, torch.tensor(d.target)
    loader = DataLoader(TensorDataset(x[:1280], y[:1280]), batch_size=opt.micro_batch, shuffle=True)
    net = LeafNet()
    sgd = torch.optim.SGD(net.parameters(), lr=opt.lr, momentum=0.9)
    for epoch in range(opt.epochs):
        net.train()
        shown = 0.0
        sgd.zero_grad()
        for i, (xb, yb) in enumerate(loader):
            loss = F.cross_entropy(net(xb), yb)
            shown += loss.item()
            loss.backward()  # <- PM603
            if (i + 1) % opt.accum_steps == 0:
                sgd.step()
                sgd.zero_grad()
        net.eval()
        with torch.no_grad():
            acc = (net(x[1280:]).argmax(1) == y[1280:]).float().mean()
        if epoch % 2:
            print(f"epoch {epoch + 1}: loss {shown / len(loader):.3f} accuracy {acc:.3f}")


if __name__ == "__main__":
    main(options())
