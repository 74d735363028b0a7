import torch
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)


def spirals(n):
    y = torch.randint(0, 2, (n,))
    t = torch.rand(n).sqrt() * 7
    a = t + 3.1416 * y
    return torch.stack([t * a.cos(), t * a.sin()], 1) / 4 + 0.04 * torch.randn(n, 2), y


def mlp(sizes):
    layers = []
    for i in range(len(sizes) - 1):
        layers.append(nn.Linear(sizes[i], sizes[i + 1]))  # <- PM408
    return nn.Sequential(*layers)


x, y = spirals(1200)
xv, yv = spirals(400)
net = mlp([2, 64, 64, 64, 2])
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
for epoch in range(30):
    for b in torch.randperm(1200).split(50):
        loss = nn.functional.cross_entropy(net(x[b]), y[b])
        opt.zero_grad()
        loss.backward()
        opt.step()
    if epoch % 10 == 9:
        with torch.no_grad():
            acc = (net(xv).argmax(1) == yv).float().mean().item()
        print(f"epoch {epoch + 1} loss {loss.item():.3f} val acc {acc:.3f}")
