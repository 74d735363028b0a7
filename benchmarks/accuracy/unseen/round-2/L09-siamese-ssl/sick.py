import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.neighbors import KNeighborsClassifier

torch.manual_seed(0)
torch.set_num_threads(1)
anchors = torch.randn(8, 32)


def objects(n):
    y = torch.randint(0, 8, (n,))
    return anchors[y] + 0.5 * torch.randn(n, 32), y


def view(x):
    keep = (torch.rand_like(x) > 0.2).float()
    return x * keep + 0.3 * torch.randn_like(x)


class Siamese(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 16))
        self.predictor = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 16))

    def forward(self, a, b):
        za, zb = self.encoder(a), self.encoder(b)
        pa, pb = self.predictor(za), self.predictor(zb)
        return self.similarity(pa, zb) / 2 + self.similarity(pb, za) / 2  # <- PM517

    @staticmethod
    def similarity(p, z):
        return -F.cosine_similarity(p, z, dim=-1).mean()


x, y = objects(1500)
net = Siamese()
opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
for epoch in range(15):
    for b in torch.randperm(len(x)).split(100):
        loss = net(view(x[b]), view(x[b]))
        opt.zero_grad()
        loss.backward()
        opt.step()
net.eval()
with torch.no_grad():
    z = F.normalize(net.encoder(x), dim=1)
    xt, yt = objects(500)
    zt = F.normalize(net.encoder(xt), dim=1)
knn = KNeighborsClassifier(5).fit(z.numpy(), y.numpy())
print(f"loss {loss.item():.3f}")
print(f"std of normalised embedding {z.std(0).mean().item():.4f} (1/sqrt(d) = {16 ** -0.5:.3f})")
print(f"knn accuracy {knn.score(zt.numpy(), yt.numpy()):.3f}")
