import torch
import torch.nn.functional as F
from torch import nn


def scans(n, gen):
    """Faint round lesions, a few pixels each, on noisy tissue."""
    axis = torch.arange(20.0)
    cy, cx = (torch.randint(3, 17, (2, n, 1, 1), generator=gen)).float()
    r = 1.3 + torch.rand(n, 1, 1, generator=gen)
    mask = ((axis[None, :, None] - cy) ** 2 + (axis[None, None] - cx) ** 2 < r**2).float()
    return (0.9 * mask + 0.45 * torch.randn(n, 20, 20, generator=gen))[:, None], mask[:, None]


def dice(pred, target, eps=1.0):
    inter = (pred * target).sum((1, 2, 3))
    return (2 * inter + eps) / (pred.sum((1, 2, 3)) + target.sum((1, 2, 3)) + eps)


class SegmentationLoss(nn.Module):
    def __init__(self, dice_weight=2.0):
        super().__init__()
        self.dice_weight = dice_weight

    def forward(self, logits, target):
        bce = F.binary_cross_entropy_with_logits(logits, target)
        prob = torch.sigmoid(logits)
        overlap = dice(prob, target)
        return bce + self.dice_weight * (1 - overlap.mean())


def conv(cin, cout):
    return nn.Sequential(nn.Conv2d(cin, cout, 3, padding=1), nn.ReLU())


class Loop:
    def __init__(self, model, loss, lr=6e-3):
        self.model, self.loss = model, loss
        self.opt = torch.optim.Adam(model.parameters(), lr=lr)

    def epoch(self, x, y, batch, gen):
        self.model.train()
        total = 0.0
        for idx in torch.randperm(len(x), generator=gen).split(batch):
            loss = self.loss(self.model(x[idx]), y[idx])
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
            total += loss.item() * len(idx)
        return total / len(x)

    @torch.no_grad()
    def score(self, x, y):
        self.model.eval()
        return dice((self.model(x) > 0).float(), y).mean().item()


def main():
    torch.manual_seed(15)
    torch.set_num_threads(1)
    gen = torch.Generator().manual_seed(15)
    x, y = scans(300, gen)
    vx, vy = scans(150, gen)
    loop = Loop(nn.Sequential(conv(1, 8), conv(8, 8), nn.Conv2d(8, 1, 1)), SegmentationLoss())
    for e in range(10):
        loss = loop.epoch(x, y, 15, gen)
        print(f"epoch {e + 1} loss {loss:.4f} val dice {loop.score(vx, vy):.3f}")


if __name__ == "__main__":
    main()
