import numpy as np
import torch
import torch.nn as nn

torch.manual_seed(0)
torch.set_num_threads(1)
rng = np.random.default_rng(3)


def make_readings(n):
    y = rng.integers(0, 4, n)
    centers = np.array([[1, 0, 2, 0, 1, 0], [0, 2, 0, 1, 0, 1], [2, 1, 0, 0, 1, 2], [0, 0, 1, 2, 2, 0]], dtype=float)
    x = centers[y] + rng.normal(0, 0.8, (n, 6))
    return x.astype(np.float32), y


class SensorNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(6, 48), nn.ReLU(), nn.Linear(48, 48), nn.ReLU())
        self.out = nn.Linear(48, 4)

    def forward(self, x):
        return self.out(self.body(x))


x_train, y_train = make_readings(1600)
x_val, y_val = make_readings(400)
net = SensorNet()
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
bs = 64
for epoch in range(15):
    order = rng.permutation(len(x_train))
    x_train = x_train[order]
    y_train = y_train[order]
    net.train()
    running = 0.0
    for i in range(0, len(x_train), bs):
        xb = torch.from_numpy(x_train[i:i + bs])
        yb = torch.from_numpy(y_train[i:i + bs])
        opt.zero_grad()
        loss = nn.functional.cross_entropy(net(xb), yb)
        loss.backward()
        opt.step()
        running += loss.item() * len(xb)
    net.eval()
    with torch.no_grad():
        acc = (net(torch.from_numpy(x_val)).argmax(1) == torch.from_numpy(y_val)).float().mean().item()
    print(f"epoch {epoch:2d} loss {running / len(x_train):.4f} val acc {acc:.3f}")
