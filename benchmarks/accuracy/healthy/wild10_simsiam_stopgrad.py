"""Healthy: SimSiam self-supervision; negative cosine loss (goes to -1), stop-gradient branch, then a linear probe on frozen features."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split


def augment(x, gen):
    """Random one-pixel shift, pixel dropout and noise on 8x8 digits."""
    img = x.view(-1, 8, 8)
    dy, dx = (int(v) for v in torch.randint(-1, 2, (2,), generator=gen))
    img = torch.roll(img, (dy, dx), (1, 2))
    keep = (torch.rand(img.shape, generator=gen) > 0.15).float()
    return (img * keep + 0.15 * torch.randn(img.shape, generator=gen)).flatten(1)


class SimSiam(nn.Module):
    def __init__(self, dim=64):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Linear(64, 192, bias=False), nn.BatchNorm1d(192), nn.ReLU(),
            nn.Linear(192, dim, bias=False), nn.BatchNorm1d(dim, affine=False),
        )
        self.predictor = nn.Sequential(nn.Linear(dim, 32, bias=False), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, dim))

    def forward(self, a, b):
        za, zb = self.encoder(a), self.encoder(b)
        pa, pb = self.predictor(za), self.predictor(zb)
        return -0.5 * (F.cosine_similarity(pa, zb.detach()).mean() + F.cosine_similarity(pb, za.detach()).mean()), za


def linear_probe(encoder, x, y, tr, te):
    encoder.eval()
    with torch.no_grad():
        f = encoder(x)
    probe = nn.Linear(f.shape[1], 10)
    opt = torch.optim.Adam(probe.parameters(), lr=1e-2)
    for _ in range(150):
        loss = F.cross_entropy(probe(f[tr]), y[tr])
        opt.zero_grad()
        loss.backward()
        opt.step()
    return (probe(f[te]).argmax(1) == y[te]).float().mean().item()


def main():
    torch.manual_seed(1)
    gen = torch.Generator().manual_seed(1)
    d = load_digits()
    x = torch.tensor(d.data / 8.0 - 1.0, dtype=torch.float32)
    y = torch.tensor(d.target)
    tr, te = train_test_split(torch.arange(len(y)), test_size=0.3, stratify=d.target, random_state=1)
    model = SimSiam()
    epochs = 25
    opt = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, epochs)
    for epoch in range(1, epochs + 1):
        model.train()
        total, n = 0.0, 0
        for idx in tr[torch.randperm(len(tr), generator=gen)].split(128):
            if len(idx) < 128:
                continue
            loss, z = model(augment(x[idx], gen), augment(x[idx], gen))
            opt.zero_grad()
            loss.backward()
            opt.step()
            total, n = total + loss.item(), n + 1
        sched.step()
        if epoch % 5 == 0:
            spread = F.normalize(z, dim=1).std(0).mean().item()
            print(f"epoch {epoch}  loss {total / n:.4f}  feature std {spread:.4f}")
    print(f"linear probe accuracy {linear_probe(model.encoder, x, y, tr, te):.4f}")


if __name__ == "__main__":
    main()
