import torch
import torch.nn as nn

torch.manual_seed(0)
torch.set_num_threads(1)


class GatedBag(nn.Module):
    """multiple instance learning: a bag is positive when one instance is"""

    def __init__(self, d=12):
        super().__init__()
        self.inst = nn.Sequential(nn.Linear(d, 32), nn.ReLU())
        self.gate = nn.Linear(32, 1)
        self.out = nn.Linear(32, 1)

    def forward(self, bag):
        h = self.inst(bag)
        a = torch.softmax(self.gate(h), dim=0)  # <- PM414
        return self.out((a * h).sum(1)).squeeze(1)


def bags(n, k=15):
    x = torch.randn(n, k, 12)
    y = (torch.rand(n) < 0.5).float()
    pos = torch.randint(0, k, (n,))
    x[torch.arange(n), pos, :3] += 2.8 * y[:, None]
    return x, y


def loader(x, y, bs):
    for b in torch.randperm(len(x)).split(bs):
        yield x[b], y[b]


x, y = bags(1200)
xv, yv = bags(400)
model = GatedBag()
opt = torch.optim.Adam(model.parameters(), lr=4e-3)
lossf = nn.BCEWithLogitsLoss()
for epoch in range(12):
    model.train()
    for xb, yb in loader(x, y, 64):
        loss = lossf(model(xb), yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
    model.eval()
    with torch.no_grad():
        one_by_one = torch.cat([model(xv[i:i + 1]) for i in range(0, 400, 2)])
        acc = ((one_by_one > 0).float() == yv[::2]).float().mean().item()
    print(f"epoch {epoch} loss {loss.item():.3f} val acc {acc:.3f}")
