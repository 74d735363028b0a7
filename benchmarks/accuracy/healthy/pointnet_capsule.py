"""PointNet with a T-Net on toy clouds, and a capsule layer with routing by agreement (softmax over output capsules)."""

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(0)


def clouds(n, points=48):
    kind = torch.randint(3, (n,))
    p = torch.randn(n, points, 3)
    sphere = F.normalize(p, dim=2)
    cube = p.sign() * torch.ones_like(p) * (torch.rand(n, points, 3) < 0.5) + 0.3 * p.clamp(-1, 1)
    line = p[..., :1] * torch.tensor([1.0, 0.5, 0.2])
    return torch.stack([sphere, cube, line])[kind, torch.arange(n)] + 0.02 * torch.randn(n, points, 3), kind


class TNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.bn, self.fc = nn.Conv1d(3, 32, 1), nn.BatchNorm1d(32), nn.Linear(32, 9)
        nn.init.zeros_(self.fc.weight)
        nn.init.zeros_(self.fc.bias)

    def forward(self, x):
        h = F.relu(self.bn(self.conv(x))).max(2).values
        return self.fc(h).view(-1, 3, 3) + torch.eye(3)


class PointNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.tnet = TNet()
        self.mlp = nn.Sequential(nn.Conv1d(3, 32, 1), nn.BatchNorm1d(32), nn.ReLU(), nn.Conv1d(32, 64, 1))
        self.head = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Dropout(0.2), nn.Linear(32, 3))

    def forward(self, p):
        x = p.transpose(1, 2)
        transform = self.tnet(x)
        x = torch.bmm(transform, x)
        return self.head(self.mlp(x).max(2).values), transform


net = PointNet()
optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)
for step in range(70):
    net.train()
    p, y = clouds(32)
    logits, transform = net(p)
    regular = (torch.bmm(transform, transform.transpose(1, 2)) - torch.eye(3)).pow(2).sum((1, 2)).mean()
    loss = F.nll_loss(F.log_softmax(logits, 1), y) + 1e-3 * regular
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 0:
        print("pointnet", step, loss.item())
net.eval()
with torch.no_grad():
    p, y = clouds(200)
    accuracy = (net(p)[0].argmax(1) == y).float().mean().item()
print("accuracy", accuracy)


def squash(s):
    n2 = (s**2).sum(-1, keepdim=True)
    return n2 / (1 + n2) * s / (n2.sqrt() + 1e-8)


class Capsules(nn.Module):
    def __init__(self, inputs=10, outputs=4, dim=8):
        super().__init__()
        self.first = nn.Linear(16, inputs * 6)
        self.w = nn.Parameter(0.1 * torch.randn(inputs, outputs, dim, 6))

    def forward(self, x):
        u = squash(self.first(x).view(len(x), -1, 6))
        votes = torch.einsum("iodk,bik->biod", self.w, u)
        b = torch.zeros(votes.shape[:3])
        for i in range(3):
            c = F.softmax(b, dim=2).unsqueeze(-1)
            v = squash((c * votes).sum(1))
            if i < 2:
                b = b + (votes.detach() * v.detach().unsqueeze(1)).sum(-1)
        return v.norm(dim=-1)


def margin_loss(lengths, y):
    t = F.one_hot(y, lengths.size(1)).float()
    return (t * F.relu(0.9 - lengths) ** 2 + 0.5 * (1 - t) * F.relu(lengths - 0.1) ** 2).sum(1).mean()


centres = 1.5 * torch.randn(4, 16)
capsules = Capsules()
optimizer = torch.optim.Adam(capsules.parameters(), lr=5e-3)
for step in range(80):
    y = torch.randint(4, (48,))
    lengths = capsules(centres[y] + 0.5 * torch.randn(48, 16))
    loss = margin_loss(lengths, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 0:
        print("capsules", step, loss.item(), (lengths.argmax(1) == y).float().mean().item())
assert accuracy > 0.85 and (lengths.argmax(1) == y).float().mean() > 0.9
