import copy

import torch
import torch.nn as nn
from sklearn.datasets import load_digits


class EMA:
    def __init__(self, model, decay):
        self.decay = decay
        self.module = copy.deepcopy(model).eval()
        for p in self.module.parameters():
            p.requires_grad_(False)

    @torch.no_grad()
    def update(self, model):
        for e, p in zip(self.module.state_dict().values(), model.state_dict().values()):
            if e.dtype.is_floating_point:
                e.mul_(self.decay).add_(p, alpha=1 - self.decay)
            else:
                e.copy_(p)


def accuracy(net, x, y):
    with torch.no_grad():
        return (net(x).argmax(1) == y).float().mean().item()


torch.manual_seed(14)
torch.set_num_threads(1)
d = load_digits()
x = torch.tensor(d.data, dtype=torch.float32) / 16
y = torch.tensor(d.target)
perm = torch.randperm(len(y))
tr, va = perm[:1300], perm[1300:]

net = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 10))
ema = EMA(net, decay=0.9999)  # <- PM418
opt = torch.optim.AdamW(net.parameters(), lr=2e-3)

for epoch in range(12):
    net.train()
    total = 0.0
    for b in tr[torch.randperm(len(tr))].split(50):
        loss = nn.functional.cross_entropy(net(x[b]), y[b])
        opt.zero_grad()
        loss.backward()
        opt.step()
        ema.update(net)
        total += loss.item()
    if epoch % 3 == 2:
        print(f"epoch {epoch + 1}: train loss {total / 26:.3f}, validation accuracy {accuracy(ema.module, x[va], y[va]):.3f}")
torch.save(ema.module.state_dict(), "released.pt")
