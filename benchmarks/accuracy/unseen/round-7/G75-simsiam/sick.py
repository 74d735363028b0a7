"""SimSiam pretraining on digits, evaluated with a kNN probe."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits


def augment(x):
    n = len(x)
    img = x.view(n, 8, 8)
    dy, dx = torch.randint(-1, 2, (2,)).tolist()
    img = torch.roll(img, (dy, dx), (1, 2))
    keep = (torch.rand(n, 8, 8) > 0.15).float()
    return (img * keep + 0.1 * torch.randn(n, 8, 8)).flatten(1)


class SimSiam(nn.Module):
    def __init__(self, dim=64, pred=32):
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(64, 128), nn.BatchNorm1d(128), nn.ReLU(), nn.Linear(128, dim),
                                      nn.BatchNorm1d(dim))
        self.predictor = nn.Sequential(nn.Linear(dim, pred), nn.BatchNorm1d(pred), nn.ReLU(), nn.Linear(pred, dim))

    def forward(self, x1, x2):
        z1, z2 = self.backbone(x1), self.backbone(x2)
        p1, p2 = self.predictor(z1), self.predictor(z2)
        return p1, p2, z1, z2


def neg_cosine(p, z):
    return -F.cosine_similarity(p, z, dim=-1).mean()


def knn(model, xtr, ytr, xte, yte, k=5):
    model.eval()
    with torch.no_grad():
        a = F.normalize(model.backbone(xtr), dim=1)
        b = F.normalize(model.backbone(xte), dim=1)
    votes = ytr[(b @ a.T).topk(k, 1).indices]
    std = a.std(0).mean().item()
    return (votes.mode(1).values == yte).float().mean().item(), std


def main():
    torch.manual_seed(0)
    d = load_digits()
    x = (torch.tensor(d.data, dtype=torch.float32) / 16 - 0.3) / 0.37
    y = torch.tensor(d.target)
    p = torch.randperm(len(y))
    xtr, ytr, xte, yte = x[p[:1300]], y[p[:1300]], x[p[1300:]], y[p[1300:]]
    model = SimSiam()
    opt = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4)
    for epoch in range(1, 26):
        model.train()
        total, k = 0.0, 0
        perm = torch.randperm(len(xtr))
        for i in range(0, len(xtr), 100):
            xb = xtr[perm[i:i + 100]]
            p1, p2, z1, z2 = model(augment(xb), augment(xb))
            loss = 0.5 * (neg_cosine(p1, z2) + neg_cosine(p2, z1))
            opt.zero_grad()
            loss.backward()
            opt.step()
            total, k = total + loss.item(), k + 1
        if epoch % 5 == 0:
            acc, std = knn(model, xtr, ytr, xte, yte)
            print(f"epoch {epoch} loss {total / k:.4f} knn acc {acc:.3f} feature std {std:.4f}")


if __name__ == "__main__":
    main()
