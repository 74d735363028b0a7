import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
torch.set_num_threads(1)
basis = torch.randn(160, 6)


def world(n, classes, w):
    z = torch.randn(n, 6)
    x = z @ basis.T + 4.0 * torch.randn(n, 160)
    return x, (z @ w).argmax(1)


class Model(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(160, 64), nn.ReLU(), nn.Linear(64, 16), nn.ReLU())
        self.classifier = nn.Linear(16, classes)

    def forward(self, x):
        return self.classifier(self.encoder(x))


def train(m, x, y, lr, steps, bs=32):
    opt = torch.optim.Adam(m.parameters(), lr=lr)
    for _ in range(steps):
        i = torch.randint(0, len(x), (bs,))
        loss = F.cross_entropy(m(x[i]), y[i])
        opt.zero_grad()
        loss.backward()
        opt.step()
    return loss.item()


def acc(m, x, y):
    with torch.no_grad():
        return (m(x).argmax(1) == y).float().mean().item()


w_big = torch.randn(6, 24)
x, y = world(6000, 24, w_big)
base = Model(24)
train(base, x, y, 3e-3, 500, 64)
print("source acc %.3f" % acc(base, x, y))

w_small = torch.randn(6, 3)
few_x, few_y = world(36, 3, w_small)
val_x, val_y = world(1000, 3, w_small)
base.encoder.requires_grad = False  # <- PM404
old_head, base.classifier = base.classifier, nn.Linear(16, 3)
final = train(base, few_x, few_y, 2e-2, 150)
print("target train loss %.4f" % final)
print("target val acc %.3f" % acc(base, val_x, val_y))
base.classifier = old_head
print("source acc with the old head on the shared encoder %.3f" % acc(base, x, y))
