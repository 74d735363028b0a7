"""Siamese embedding of digits with a contrastive loss."""
import torch
from sklearn.datasets import load_digits
from torch import nn


class PairSampler:
    """Draws half genuine and half impostor pairs."""

    def __init__(self, x, y):
        self.x, self.y = x, y
        self.by_class = [torch.nonzero(y == c).flatten() for c in range(10)]

    def draw(self, n):
        first = torch.randint(len(self.x), (n,))
        same = torch.rand(n) < 0.5
        second = torch.empty(n, dtype=torch.long)
        for i in range(n):
            c = self.y[first[i]].item()
            if not same[i]:
                c = (c + torch.randint(1, 10, ()).item()) % 10
            pool = self.by_class[c]
            second[i] = pool[torch.randint(len(pool), ())]
        return self.x[first], self.x[second], same.float()


class Embedder(nn.Module):
    def __init__(self, dim=16):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(64, 96), nn.ReLU(), nn.Linear(96, dim))

    def forward(self, x):
        return self.net(x)


def distance(a, b):
    return torch.sqrt(((a - b) ** 2).sum(dim=1))


def contrastive(a, b, same, margin=2.0):
    d = distance(a, b)
    pull = same * d ** 2
    push = (1 - same) * torch.clamp(margin - d, min=0) ** 2
    return (pull + push).mean()


@torch.no_grad()
def nearest_neighbour_accuracy(model, x_ref, y_ref, x, y):
    model.eval()
    d = torch.cdist(model(x), model(x_ref))
    pred = y_ref[d.argmin(1)]
    model.train()
    return (pred == y).float().mean().item()


def main():
    torch.manual_seed(8)
    digits = load_digits()
    x = torch.tensor(digits.data, dtype=torch.float32)
    y = torch.tensor(digits.target)
    order = torch.randperm(len(x))
    tr, va = order[:1200], order[1200:]
    x = (x - x[tr].mean()) / x[tr].std()
    sampler = PairSampler(x[tr], y[tr])
    model = Embedder()
    opt = torch.optim.Adam(model.parameters(), lr=1e-3)
    running = 0.0
    for step in range(1, 601):
        a, b, same = sampler.draw(64)
        loss = contrastive(model(a), model(b), same)
        opt.zero_grad()
        loss.backward()
        opt.step()
        running += loss.item()
        if step % 100 == 0:
            acc = nearest_neighbour_accuracy(model, x[tr], y[tr], x[va], y[va])
            print(f"step {step} contrastive {running / 100:.4f} val 1-NN acc {acc:.3f}")
            running = 0.0


if __name__ == "__main__":
    main()
