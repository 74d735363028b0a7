"""Metric learning: all triplets of a P x K batch, scored by nearest neighbours among unseen classes."""
import torch
import torch.nn.functional as F
from torch import nn

P, K, DIM = 8, 6, 60


class Species:
    """Each class is a point on a hidden 8-dimensional plane, hidden further by loud, class-independent noise."""

    def __init__(self, n, mix):
        self.centres, self.mix = torch.randn(n, 8), mix

    def draw(self, labels):
        z = self.centres[labels] + 0.25 * torch.randn(len(labels), 8)
        x = torch.randn(len(labels), DIM) * 1.5
        return x + z @ self.mix


def all_triplets(emb, labels, margin=0.3):
    """Mean hinge over every (anchor, positive, negative) of the batch."""
    d = torch.cdist(emb, emb)
    same = labels[:, None] == labels[None]
    positive = same & ~torch.eye(len(labels), dtype=torch.bool)
    hinge = torch.relu(d[:, :, None] - d[:, None, :] + margin)
    return hinge[positive[:, :, None] & ~same[:, None, :]].mean()


def neighbours(net, species, classes):
    labels = torch.arange(classes).repeat_interleave(10)
    with torch.no_grad():
        emb = net(species.draw(labels))
    d = torch.cdist(emb, emb).fill_diagonal_(float("inf"))
    return (labels[d.argmin(1)] == labels).float().mean().item()


class Embedder(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(DIM, 96), nn.ReLU(), nn.Linear(96, 12))

    def forward(self, x):
        return F.normalize(self.net(x), dim=1)


torch.manual_seed(0)
torch.set_num_threads(1)
mix = torch.randn(8, DIM)
train, unseen = Species(60, mix), Species(20, mix)
net = Embedder()
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
print(f"nearest neighbour right before {neighbours(net, unseen, 20):.3f}")
seen = []
for step in range(500):
    labels = torch.randperm(60)[:P].repeat_interleave(K)
    loss = all_triplets(net(train.draw(labels)), labels)
    opt.zero_grad()
    loss.backward()
    opt.step()
    seen.append(loss.item())
    if step % 100 == 99:
        print(f"step {step + 1} mean loss {sum(seen[-100:]) / 100:.4f}")
print(f"nearest neighbour right after {neighbours(net, unseen, 20):.3f} (chance 0.05)")
