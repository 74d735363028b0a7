"""SimSiam on the 8x8 digits, judged by a linear probe."""
import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def augment(x):
    """Shift by up to one pixel, change contrast, drop pixels, add noise."""
    img = x.view(-1, 8, 8)
    dy, dx = torch.randint(-1, 2, (2,)).tolist()
    img = torch.roll(img, (dy, dx), dims=(1, 2)).flatten(1)
    img = img * (0.8 + 0.4 * torch.rand(len(x), 1))
    keep = (torch.rand_like(img) > 0.15).float()
    return img * keep + 0.15 * torch.randn_like(img)


class SimSiam(nn.Module):
    def __init__(self, dim=32, hidden=128):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Linear(64, hidden), nn.BatchNorm1d(hidden), nn.ReLU(),
            nn.Linear(hidden, hidden), nn.BatchNorm1d(hidden), nn.ReLU(),
            nn.Linear(hidden, dim),
        )
        self.predictor = nn.Sequential(
            nn.Linear(dim, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, dim))

    def forward(self, a, b):
        z1, z2 = self.encoder(a), self.encoder(b)
        p1, p2 = self.predictor(z1), self.predictor(z2)
        return p1, p2, z1, z2


def negative_cosine(p, z):
    return -F.cosine_similarity(p, z.detach(), dim=1).mean()


def linear_probe(model, x_ref, y_ref, x, y, steps=100):
    """Linear evaluation: logistic regression on frozen, normalised features."""
    model.eval()
    with torch.no_grad():
        ref = F.normalize(model.encoder(x_ref), dim=1)
        query = F.normalize(model.encoder(x), dim=1)
    spread = ref.std(0).mean().item() * ref.size(1) ** 0.5
    probe = nn.Linear(ref.size(1), 10)
    opt = torch.optim.SGD(probe.parameters(), lr=1.0, momentum=0.9)
    for _ in range(steps):
        loss = F.cross_entropy(probe(ref), y_ref)
        opt.zero_grad()
        loss.backward()
        opt.step()
    with torch.no_grad():
        return (probe(query).argmax(1) == y).float().mean().item(), spread


def main():
    torch.manual_seed(16)
    digits = load_digits()
    x = torch.tensor(digits.data, dtype=torch.float32)
    y = torch.tensor(digits.target)
    order = torch.randperm(len(x))
    tr, va = order[:1400], order[1400:]
    x = (x - x[tr].mean()) / x[tr].std()
    loader = DataLoader(TensorDataset(x[tr]), batch_size=100, shuffle=True, drop_last=True)

    model = SimSiam()
    epochs = 40
    opt = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, epochs)
    for epoch in range(1, epochs + 1):
        model.train()
        total = 0.0
        for (xb,) in loader:
            p1, p2, z1, z2 = model(augment(xb), augment(xb))
            loss = 0.5 * negative_cosine(p1, z2) + 0.5 * negative_cosine(p2, z1)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
        sched.step()
        if epoch % 8 == 0:
            acc, spread = linear_probe(model, x[tr], y[tr], x[va], y[va])
            print(f"epoch {epoch} loss {total / len(loader):.4f} probe acc {acc:.3f} spread {spread:.3f}")


if __name__ == "__main__":
    main()
