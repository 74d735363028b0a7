"""Co-teaching with 40 % wrong labels: two networks choose small-loss examples for each other."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits

torch.manual_seed(19)
torch.set_num_threads(1)
x, y = load_digits(return_X_y=True)
x, y = torch.tensor(x / 16, dtype=torch.float32), torch.tensor(y)
order = torch.randperm(len(x))
train, test = order[:1300], order[1300:]
wrong = torch.rand(len(y)) < 0.4
given = torch.where(wrong, (y + torch.randint(1, 10, y.shape)) % 10, y)


def network():
    return nn.Sequential(nn.Linear(64, 192), nn.ReLU(), nn.Linear(192, 192), nn.ReLU(), nn.Linear(192, 10))


def accuracy(net):
    with torch.no_grad():
        return (net(x[test]).argmax(1) == y[test]).float().mean().item()


one, two = network(), network()
optimizers = [torch.optim.Adam(n.parameters(), lr=2e-3) for n in (one, two)]
for epoch in range(1, 31):
    keep = 1 - min(0.4, 0.4 * epoch / 6)
    for rows in train[torch.randperm(len(train))].split(100):
        losses = [F.cross_entropy(n(x[rows]), given[rows], reduction="none") for n in (one, two)]
        small = [loss.detach().argsort()[: int(keep * len(rows))] for loss in losses]
        for optimizer, loss, chosen in zip(optimizers, losses, reversed(small)):
            optimizer.zero_grad()
            loss[chosen].mean().backward()
            optimizer.step()
    if epoch % 6 == 0:
        clean = 1 - wrong[rows[small[0]]].float().mean().item()
        print(f"epoch {epoch} kept {keep:.2f}, of which clean {clean:.2f}; accuracy on true labels {accuracy(one):.3f} {accuracy(two):.3f}")
