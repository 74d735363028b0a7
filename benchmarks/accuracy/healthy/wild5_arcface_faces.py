"""Additive angular margin on digits: are two new images of the same class, by the angle between embeddings?"""
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits


class ArcMargin(nn.Module):
    def __init__(self, width, classes, scale=16.0, margin=0.25):
        super().__init__()
        self.centres = nn.Parameter(torch.randn(classes, width))
        self.scale, self.margin = scale, margin

    def forward(self, embedding, label):
        cosine = F.linear(F.normalize(embedding), F.normalize(self.centres)).clamp(-1 + 1e-6, 1 - 1e-6)
        angle = torch.acos(cosine)
        pushed = torch.cos(angle + self.margin * F.one_hot(label, len(self.centres)))
        return F.cross_entropy(self.scale * pushed, label)


def equal_error_rate(score, same):
    order = score.argsort(descending=True)
    same = same[order].float()
    hit, false = same.cumsum(0) / same.sum(), (1 - same).cumsum(0) / (1 - same).sum()
    return false[(1 - hit - false).abs().argmin()].item()


torch.manual_seed(0)
torch.set_num_threads(1)
x, y = load_digits(return_X_y=True)
x, y = torch.tensor(x / 16, dtype=torch.float32).view(-1, 1, 8, 8), torch.tensor(y)
known = torch.rand(len(y)) < 0.7
unseen = ~known
net = nn.Sequential(
    nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.Flatten(), nn.Linear(512, 16),
)
margin = ArcMargin(16, 10)
opt = torch.optim.AdamW([*net.parameters(), *margin.parameters()], lr=2e-3)


def verify(x, y):
    net.eval()
    with torch.no_grad():
        e = F.normalize(net(x))
    net.train()
    i, j = torch.triu_indices(len(x), len(x), 1)
    return equal_error_rate((e @ e.T)[i, j], y[i] == y[j])


print(f"equal error rate before {verify(x[unseen], y[unseen]):.3f}")
for epoch in range(8):
    for rows in torch.randperm(int(known.sum())).split(64):
        loss = margin(net(x[known][rows]), y[known][rows])
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(f"epoch {epoch} margin loss {loss.item():.3f}")
print(f"equal error rate after on images never trained on {verify(x[unseen], y[unseen]):.3f}")
