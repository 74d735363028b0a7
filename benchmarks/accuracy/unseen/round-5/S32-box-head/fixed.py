from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class Solver:
    warm_lr: float = 3e-3
    base_lr: float = 3e-3
    max_iter: int = 1100
    unfreeze_iter: int = 250
    batch: int = 64


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(20, 64), nn.ReLU())
        self.box_head = nn.Sequential(nn.Linear(64, 24), nn.Tanh(), nn.Linear(24, 12), nn.Tanh())
        self.predictor = nn.Linear(12, 4)

    def forward(self, x):
        return self.predictor(self.box_head(self.backbone(x)))

    def freeze(self):
        for module in (self.backbone, self.box_head):
            for p in module.parameters():
                p.requires_grad = False

    def unfreeze_box_head(self):
        for p in self.box_head.parameters():
            p.requires_grad = True
        print("unfroze the parameters of the box head")


class Boxes:
    def __init__(self, seed):
        self.g = torch.Generator().manual_seed(seed)
        self.a = torch.randn(20, 6, generator=self.g) / 20**0.5
        self.b = torch.randn(6, 4, generator=self.g)

    def __call__(self, n):
        x = torch.randn(n, 20, generator=self.g)
        return x, torch.sin(1.5 * x @ self.a) @ self.b / 2


def build_optimizer(model, lr):
    return torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=lr)


def train(model, data, solver, frozen):
    optimizer = build_optimizer(model, solver.warm_lr)
    for it in range(solver.max_iter):
        if frozen and it == solver.unfreeze_iter:
            model.unfreeze_box_head()
            optimizer = build_optimizer(model, solver.base_lr)
        x, box = data(solver.batch)
        loss = nn.functional.smooth_l1_loss(model(x), box)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if it % 200 == 199:
            print(f"iter {it + 1} loss {loss.item():.4f}")


def evaluate(model, data):
    with torch.no_grad():
        x, box = data(2000)
        return (1 - (model(x) - box).pow(2).mean() / box.var()).item()


if __name__ == "__main__":
    torch.manual_seed(52)
    torch.set_num_threads(1)
    solver, model = Solver(), Detector()
    source, target = Boxes(52), Boxes(53)
    train(model, source, solver, frozen=False)
    print(f"source R2 {evaluate(model, source):.3f}")
    model.freeze()
    model.predictor.reset_parameters()
    train(model, target, solver, frozen=True)
    print(f"target R2 {evaluate(model, target):.3f}")
