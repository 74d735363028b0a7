"""Encoder with its own attention; the mask is used without == 0."""

import math

import torch
import torch.nn as nn

PAD, V, T = 0, 24, 12
torch.manual_seed(0)


def batch(n):
    lengths = torch.randint(3, T, (n,))
    x = torch.randint(2, V, (n, T))
    x[torch.arange(T)[None] >= lengths[:, None]] = PAD
    y = ((x > V // 2).sum(1) * 2 > lengths).long()
    return x, y


class SelfAttention(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.qkv, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)

    def forward(self, x, mask=None):
        q, k, v = self.qkv(x).chunk(3, -1)
        score = torch.bmm(q, k.transpose(1, 2)) / math.sqrt(q.shape[-1])
        if mask is not None:
            score = score.masked_fill(mask.unsqueeze(1), -1e9)
        return self.out(torch.bmm(torch.softmax(score, dim=-1), v))  # <- PM415


class Net(nn.Module):
    def __init__(self, d=32):
        super().__init__()
        self.emb, self.att, self.norm, self.fc = nn.Embedding(V, d), SelfAttention(d), nn.LayerNorm(d), nn.Linear(d, 2)

    def forward(self, x):
        mask = x != PAD
        h = self.emb(x)
        h = self.norm(h + self.att(h, mask))
        return self.fc((h * mask[..., None]).sum(1) / mask.sum(1, keepdim=True))


net = Net()
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
for step in range(150):
    net.train()
    x, y = batch(32)
    loss = nn.functional.cross_entropy(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 50 == 49:
        net.eval()
        with torch.no_grad():
            xv, yv = batch(200)
            print(step, loss.item(), (net(xv).argmax(1) == yv).float().mean().item())
