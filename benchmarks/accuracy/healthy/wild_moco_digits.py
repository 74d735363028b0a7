"""MoCo: a momentum key encoder and a queue of negatives on digits; a nearest-neighbour probe shows what was learned."""
import copy

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn


def view(x):
    """A shifted, masked and noisy look at an 8 x 8 digit."""
    img = x.view(-1, 8, 8)
    rows = (torch.arange(8) + torch.randint(-1, 2, (len(img), 1))) % 8
    cols = (torch.arange(8) + torch.randint(-1, 2, (len(img), 1))) % 8
    img = img[torch.arange(len(img))[:, None, None], rows[:, :, None], cols[:, None, :]]
    keep = (torch.rand(len(img), 8, 8) > 0.15).float()
    return (img * keep + 0.1 * torch.randn_like(img)).flatten(1)


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(64, 128), nn.BatchNorm1d(128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU())
        self.project = nn.Sequential(nn.Linear(64, 24), nn.BatchNorm1d(24, affine=False))

    def forward(self, x):
        return F.normalize(self.project(self.trunk(x)), dim=1)


class MoCo(nn.Module):
    def __init__(self, size=512, momentum=0.98, temperature=0.2):
        super().__init__()
        self.query = Encoder()
        self.key = copy.deepcopy(self.query).requires_grad_(False)
        self.register_buffer("queue", F.normalize(torch.randn(size, 24), dim=1))
        self.at, self.momentum, self.temperature = 0, momentum, temperature

    def forward(self, a, b):
        q = self.query(a)
        with torch.no_grad():
            for kp, qp in zip(self.key.parameters(), self.query.parameters()):
                kp.lerp_(qp, 1 - self.momentum)
            k = self.key(b)
        positive = (q * k).sum(1, keepdim=True)
        negative = q @ self.queue.clone().T
        logits = torch.cat([positive, negative], 1) / self.temperature
        self.queue[self.at : self.at + len(k)] = k
        self.at = (self.at + len(k)) % len(self.queue)
        return F.cross_entropy(logits, torch.zeros(len(q), dtype=torch.long))


@torch.no_grad()
def probe(encoder, x, labels):
    """Accuracy of each distorted image's nearest neighbour when only 100 others carry a label."""
    encoder.eval()
    features = encoder(view(x))
    encoder.train()
    ref, rest = features[:100], features[100:]
    return (labels[:100][(rest @ ref.T).argmax(1)] == labels[100:]).float().mean().item()


torch.manual_seed(0)
torch.set_num_threads(1)
d = load_digits()
x, y = torch.tensor(d.data, dtype=torch.float32) / 16, torch.tensor(d.target)
moco = MoCo()
opt = torch.optim.Adam(moco.query.parameters(), lr=2e-3)
print(f"probe on a random encoder {probe(moco.query, x, y):.3f}")
for epoch in range(14):
    for idx in torch.randperm(len(x))[:1792].split(64):
        loss = moco(view(x[idx]), view(x[idx]))
        opt.zero_grad()
        loss.backward()
        opt.step()
    if epoch % 2 == 1:
        print(f"epoch {epoch + 1} loss {loss.item():.3f} probe on distorted images {probe(moco.query, x, y):.3f}")
