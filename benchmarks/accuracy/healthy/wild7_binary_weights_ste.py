"""Binary-weight network trained with a custom straight-through autograd function."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits


class SignSTE(torch.autograd.Function):
    @staticmethod
    def forward(ctx, w):
        ctx.save_for_backward(w)
        return torch.where(w >= 0, 1.0, -1.0)

    @staticmethod
    def backward(ctx, grad):
        w, = ctx.saved_tensors
        return grad * (w.abs() <= 1).float()


class BinaryLinear(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(o, i).uniform_(-0.3, 0.3))
        self.scale = i ** -0.5

    def forward(self, x):
        return F.linear(x, SignSTE.apply(self.weight)) * self.scale


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.l1, self.n1 = BinaryLinear(64, 128), nn.LayerNorm(128)
        self.l2, self.n2 = BinaryLinear(128, 128), nn.LayerNorm(128)
        self.out = nn.Linear(128, 10)

    def forward(self, x):
        x = F.hardtanh(self.n1(self.l1(x)))
        x = F.hardtanh(self.n2(self.l2(x)))
        return self.out(x)


torch.manual_seed(0)
d = load_digits()
x = torch.tensor(d.data, dtype=torch.float32) / 8 - 1
y = torch.tensor(d.target)
perm = torch.randperm(len(y))
tr, te = perm[:1400], perm[1400:]
net = Net()
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
for epoch in range(12):
    order = tr[torch.randperm(len(tr))]
    total, k = 0.0, 0
    for i in range(0, len(order), 64):
        j = order[i:i + 64]
        loss = F.cross_entropy(net(x[j]), y[j])
        opt.zero_grad()
        loss.backward()
        opt.step()
        with torch.no_grad():
            for m in (net.l1, net.l2):
                m.weight.clamp_(-1, 1)
        total, k = total + loss.item(), k + 1
    if epoch % 3 == 2:
        with torch.no_grad():
            acc = (net(x[te]).argmax(1) == y[te]).float().mean().item()
        print(f"epoch {epoch + 1} loss {total / k:.4f} test acc {acc:.3f}")
