import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(5)
torch.set_num_threads(1)


class ProxyLoss(nn.Module):
    def __init__(self, classes, dim, scale=8.0):
        super().__init__()
        self.proxies = nn.Parameter(torch.zeros(classes, dim) + 0.01 * torch.randn(classes, dim) + 1)
        self.scale = scale

    def forward(self, z, y):
        cos = F.normalize(z, dim=1) @ F.normalize(self.proxies, dim=1).T
        return F.cross_entropy(self.scale * cos, y)


class Embedder(nn.Module):
    def __init__(self, d=8):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(30, 64), nn.ReLU(), nn.Linear(64, d))

    def forward(self, x):
        return self.net(x)


means = torch.randn(10, 30)


def products(n):
    y = torch.randint(0, 10, (n,))
    return means[y] + 1.3 * torch.randn(n, 30), y


model, criterion = Embedder(), ProxyLoss(10, 8)
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)  # <- PM402
x, y = products(1500)
xv, yv = products(400)
for epoch in range(8):
    for b in torch.randperm(1500).split(50):
        loss = criterion(model(x[b]), y[b])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        pred = (F.normalize(model(xv), dim=1) @ F.normalize(criterion.proxies, dim=1).T).argmax(1)
    print(f"epoch {epoch} loss {loss.item():.3f} nearest-proxy acc {(pred == yv).float().mean():.3f}")
