"""Metric learning three ways in one notebook: NT-Xent, a hand-written triplet loss, contrastive pairs with margin."""

# %% set-up
import torch
import torch.nn.functional as F
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(0)
centres = torch.randn(12, 16)
label = torch.randint(12, (1200,))
data = centres[label] + 0.6 * torch.randn(1200, 16)


def make_net():
    return nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 8))


def recall_at_1(net):
    with torch.no_grad():
        z = F.normalize(net(data[1000:]), dim=1)
        similarity = z @ z.T
        similarity.fill_diagonal_(float("-inf"))
        return (label[1000:][similarity.argmax(1)] == label[1000:]).float().mean().item()


# %% 1. NT-Xent
net = make_net()
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
print("untrained", recall_at_1(net))
for step in range(120):
    x = data[torch.randint(1000, (64,))]
    views = torch.cat([x + 0.3 * torch.randn_like(x), x + 0.3 * torch.randn_like(x)])
    z = F.normalize(net(views), dim=1)
    sim = z @ z.T / 0.3
    sim = sim.masked_fill(torch.eye(128, dtype=torch.bool), float("-inf"))
    target = (torch.arange(128) + 64) % 128
    loss = F.cross_entropy(sim, target)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 30 == 0:
        print("nt-xent", step, loss.item())
print(recall_at_1(net))

# %% 2. triplets, semi-hard, squared distances by broadcasting
net = make_net()
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
for step in range(120):
    rows = torch.randint(1000, (64,))
    z, y = net(data[rows]), label[rows]
    d = (z[:, None] - z[None]).pow(2).sum(-1)
    same = y[:, None] == y[None]
    hardest_positive = (d * same).max(1).values
    hardest_negative = d.masked_fill(same, 1e9).min(1).values
    loss = F.relu(hardest_positive - hardest_negative + 1.0).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 30 == 0:
        print("triplet", step, loss.item())
print(recall_at_1(net))

# %% 3. pairs with a margin
net = make_net()
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
for step in range(150):
    i, j = torch.randint(1000, (2, 128))
    same = (label[i] == label[j]).float()
    distance = (net(data[i]) - net(data[j])).norm(dim=1)
    loss = (same * distance**2 + (1 - same) * F.relu(2.0 - distance) ** 2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 30 == 0:
        print("pairs", step, loss.item())
print(recall_at_1(net))
assert recall_at_1(net) > 0.8
