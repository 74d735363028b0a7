"""BYOL on noisy views of clusters: online and target networks, moving average, no negatives."""

import copy

import torch
import torch.nn as nn
import torch.nn.functional as F


def mlp(i, h, o):
    return nn.Sequential(nn.Linear(i, h), nn.BatchNorm1d(h), nn.ReLU(), nn.Linear(h, o))


class BYOL(nn.Module):
    def __init__(self, dim=20, momentum=0.98):
        super().__init__()
        self.online = nn.Sequential(mlp(dim, 64, 32), mlp(32, 64, 16))
        self.predictor = mlp(16, 64, 16)
        self.target = copy.deepcopy(self.online)
        for p in self.target.parameters():
            p.requires_grad = False
        self.momentum = momentum

    @torch.no_grad()
    def update_target(self):
        for a, b in zip(self.online.parameters(), self.target.parameters()):
            b.data = b.data * self.momentum + a.data * (1 - self.momentum)

    def loss(self, v1, v2):
        p1, p2 = self.predictor(self.online(v1)), self.predictor(self.online(v2))
        with torch.no_grad():
            t1, t2 = self.target(v1), self.target(v2)
        return (2 - 2 * F.cosine_similarity(p1, t2.detach()) + 2 - 2 * F.cosine_similarity(p2, t1.detach())).mean()


torch.set_num_threads(1)
torch.manual_seed(0)
centres = 3 * torch.randn(6, 20)
labels = torch.randint(6, (1500,))
data = centres[labels] + torch.randn(1500, 20)
augment = lambda x: x * (torch.rand_like(x) > 0.2) + 0.5 * torch.randn_like(x)

byol = BYOL()
optimizer = torch.optim.Adam(byol.parameters(), lr=2e-3, weight_decay=1e-6)
for epoch in range(6):
    total = 0.0
    for rows in torch.randperm(len(data)).split(100):
        loss = byol.loss(augment(data[rows]), augment(data[rows]))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        byol.update_target()
        total += loss.item()
    print(epoch, total)

# linear probe on the frozen representation
byol.eval()
with torch.no_grad():
    features = byol.online[0](data)
probe = nn.Linear(32, 6)
probe_optimizer = torch.optim.Adam(probe.parameters(), lr=0.05)
for step in range(60):
    probe_loss = F.cross_entropy(probe(features[:1000]), labels[:1000])
    probe_optimizer.zero_grad()
    probe_loss.backward()
    probe_optimizer.step()
accuracy = (probe(features[1000:]).argmax(1) == labels[1000:]).float().mean().item()
print("probe", probe_loss.item(), accuracy)
assert accuracy > 0.9
