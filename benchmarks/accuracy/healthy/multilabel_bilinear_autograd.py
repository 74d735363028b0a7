"""Multi-label tags with pos_weight, straight-through binary codes, and an optimizer written as a subclass."""

import torch
from torch import nn
from torch.nn import functional as F
from torch.optim import Optimizer

torch.set_num_threads(1)
torch.manual_seed(0)


class Binarize(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.sign(x)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * (x.abs() <= 1)


class Lion(Optimizer):
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.99), weight_decay=0.0):
        super().__init__(params, dict(lr=lr, betas=betas, weight_decay=weight_decay))

    @torch.no_grad()
    def step(self, closure=None):
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            b1, b2 = group["betas"]
            for p in group["params"]:
                if p.grad is None:
                    continue
                momentum = self.state[p].setdefault("m", torch.zeros_like(p))
                p.mul_(1 - group["lr"] * group["weight_decay"])
                p.add_(momentum.mul(b1).add(p.grad, alpha=1 - b1).sign_(), alpha=-group["lr"])
                momentum.mul_(b2).add_(p.grad, alpha=1 - b2)
        return loss


class Tagger(nn.Module):
    def __init__(self, tags):
        super().__init__()
        self.encode = nn.Linear(20, 48)
        self.decode = nn.Linear(48, tags)

    def forward(self, x):
        codes = Binarize.apply(torch.tanh(self.encode(x)))
        return self.decode(codes)


topics = torch.randn(6, 20)
rates = torch.tensor([0.5, 0.3, 0.2, 0.1, 0.1, 0.05])


def documents(n):
    tags = (torch.rand(n, 6) < rates).float()
    return tags @ topics + 0.5 * torch.randn(n, 20), tags


model = Tagger(6)
criterion = nn.BCEWithLogitsLoss(pos_weight=((1 - rates) / rates).clamp(max=5))
optimizer = Lion(model.parameters(), lr=2e-3, weight_decay=1e-2)
for step in range(300):
    x, tags = documents(64)
    logits = model(x)
    loss = criterion(logits, tags)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 50 == 0:
        with torch.no_grad():
            train_accuracy = ((logits > 0).float() == tags).float().mean().item()
        print(step, loss.item(), train_accuracy)
model.eval()
with torch.no_grad():
    x, tags = documents(1000)
    predicted = (torch.sigmoid(model(x)) > 0.5).float()
    f1 = 2 * (predicted * tags).sum() / (predicted.sum() + tags.sum())
print("micro F1", f1.item())
assert f1 > 0.8
