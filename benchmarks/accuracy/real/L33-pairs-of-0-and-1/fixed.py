"""Match titles and descriptions with CosineEmbeddingLoss."""
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
topic = torch.randn(800, 6)
A, B = torch.randn(6, 20), torch.randn(6, 20)
left = topic @ A + 0.3 * torch.randn(800, 20)
match = torch.randint(0, 2, (800,))
other = torch.where(match[:, None] == 1, topic, topic[torch.randperm(800)])
right = other @ B + 0.3 * torch.randn(800, 20)
labels = match * 2 - 1


class Pair(nn.Module):
    def __init__(self):
        super().__init__()
        self.l, self.r = nn.Sequential(nn.Linear(20, 32), nn.ReLU(), nn.Linear(32, 16)), nn.Sequential(nn.Linear(20, 32), nn.ReLU(), nn.Linear(32, 16))

    def forward(self, a, b):
        return self.l(a), self.r(b)


net = Pair()
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
crit = nn.CosineEmbeddingLoss(margin=0.2)
train = DataLoader(TensorDataset(left[:640], right[:640], labels[:640]), batch_size=32, shuffle=True)
val = DataLoader(TensorDataset(left[640:], right[640:], labels[640:]), batch_size=40)
for epoch in range(8):
    net.train()
    for a, b, t in train:
        opt.zero_grad()
        loss = crit(*net(a, b), t)
        loss.backward()
        opt.step()
    net.eval()
    with torch.no_grad():
        ok = sum(((nn.functional.cosine_similarity(*net(a, b)) > 0.5) == (t == 1)).sum().item() for a, b, t in val) / 160
    print(epoch, loss.item(), ok)
