import torch
import torch.nn as nn
import torch.nn.functional as F


class TwoTower(nn.Module):
    def __init__(self, d_audio=20, d_video=30, d=16):
        super().__init__()
        self.audio = nn.Sequential(nn.Linear(d_audio, 64), nn.ReLU(), nn.Linear(64, d))
        self.video = nn.Sequential(nn.Linear(d_video, 64), nn.ReLU(), nn.Linear(64, d))
        self.log_temp = nn.Parameter(torch.tensor(2.0))

    def forward(self, a, v):
        za = F.normalize(self.audio(a), dim=1)
        zv = F.normalize(self.video(v), dim=1)
        return za, zv


def clip_loss(za, zv, log_temp):
    labels = torch.arange(len(za))
    sim = log_temp.exp() * za @ zv.t()
    return (F.cross_entropy(sim, labels) + F.cross_entropy(sim.t(), labels)) / 2


def clips(n, seed):
    g = torch.Generator().manual_seed(seed)
    w = torch.Generator().manual_seed(100)
    z = torch.randn(n, 6, generator=g)
    a = torch.tanh(z @ torch.randn(6, 20, generator=w)) + 0.3 * torch.randn(n, 20, generator=g)
    v = torch.tanh(z @ torch.randn(6, 30, generator=w)) + 0.3 * torch.randn(n, 30, generator=g)
    return a, v


def recall_at_one(model, a, v):
    model.eval()
    with torch.no_grad():
        za, zv = model(a, v)
    return ((za @ zv.t()).argmax(1) == torch.arange(len(a))).float().mean().item()


torch.manual_seed(0)
torch.set_num_threads(1)
a, v = clips(2000, 1)
at, vt = clips(200, 2)
model = TwoTower()
opt = torch.optim.AdamW(model.parameters(), lr=2e-3)
for epoch in range(15):
    model.train()
    for b in torch.randperm(len(a)).split(100):
        za, zv = model(a[b], v[b])
        loss = clip_loss(za, zv, model.log_temp)
        opt.zero_grad()
        loss.backward()
        opt.step()
    if epoch % 3 == 2:
        print(f"epoch {epoch + 1}: loss {loss.item():.3f}  retrieval R@1 {recall_at_one(model, at, vt):.3f}")
