import torch
import torch.nn as nn

torch.manual_seed(0)
torch.set_num_threads(1)


def scans(n):
    y = (torch.rand(n) < 0.5).float()
    x = torch.randn(n, 24)
    x[:, :6] += 2.2 * (2 * y[:, None] - 1)
    return x, y


def bce(p, y, eps=1e-4):
    p = p.float().clamp(eps, 1 - eps)
    return -(y * torch.log(p) + (1 - y) * torch.log(1 - p)).mean()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.f = nn.Sequential(nn.Linear(24, 64), nn.ReLU(), nn.Linear(64, 1))

    def forward(self, x):
        return self.f(x).squeeze(1)


x, y = scans(2000)
flip = torch.rand(2000) < 0.03
y = torch.where(flip, 1 - y, y)
xv, yv = scans(500)
net = Net()
opt = torch.optim.AdamW(net.parameters(), lr=5e-3)
for epoch in range(10):
    net.train()
    for b in torch.randperm(2000).split(50):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            loss = bce(torch.sigmoid(net(x[b])), y[b])
        opt.zero_grad()
        loss.backward()
        opt.step()
    net.eval()
    with torch.no_grad():
        acc = ((net(xv) > 0).float() == yv).float().mean().item()
    print(f"epoch {epoch} loss {loss.item():.4f} val acc {acc:.3f}")
