"""The same small problem with every kind of schedule, per step and per epoch, alone and combined."""

import math

import torch
from torch import nn
from torch.optim import lr_scheduler as S

torch.set_num_threads(1)
EPOCHS, BATCHES = 4, 10
TOTAL = EPOCHS * BATCHES


def batches(seed):
    g = torch.Generator().manual_seed(seed)
    for _ in range(BATCHES):
        x = torch.randn(32, 6, generator=g)
        yield x, x.sum(1, keepdim=True).tanh()


def recipes(optimizer):
    return {
        "onecycle": lambda: S.OneCycleLR(optimizer, 0.03, total_steps=TOTAL),
        "cosine": lambda: S.CosineAnnealingLR(optimizer, TOTAL),
        "restarts": lambda: S.CosineAnnealingWarmRestarts(optimizer, T_0=BATCHES, T_mult=2),
        "warm from zero": lambda: S.LambdaLR(optimizer, lambda s: min(1.0, s / 8)),
        "cyclic": lambda: S.CyclicLR(optimizer, 1e-3, 2e-2, step_size_up=5, cycle_momentum=False),
        "sequential": lambda: S.SequentialLR(
            optimizer, [S.LinearLR(optimizer, 0.1, total_iters=5), S.ExponentialLR(optimizer, 0.97)], milestones=[5]
        ),
        "chained": lambda: S.ChainedScheduler(
            [S.ConstantLR(optimizer, 0.5, total_iters=5), S.ExponentialLR(optimizer, 0.98)]
        ),
        "polynomial": lambda: S.PolynomialLR(optimizer, total_iters=TOTAL),
        "step": lambda: S.StepLR(optimizer, 2),
        "multistep": lambda: S.MultiStepLR(optimizer, [2, 3]),
        "plateau": lambda: S.ReduceLROnPlateau(optimizer, patience=1),
    }


PER_EPOCH = {"step", "multistep", "plateau"}
results = {}
for name in recipes(None):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(6, 32), nn.Tanh(), nn.Linear(32, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    scheduler = recipes(optimizer)[name]()
    first = None
    for epoch in range(EPOCHS):
        total = 0.0
        for i, (x, y) in enumerate(batches(epoch)):
            loss = nn.functional.mse_loss(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            first = first or loss.item()
            total += loss.item() / BATCHES
            if name == "restarts":
                scheduler.step(epoch + i / BATCHES)
            elif name not in PER_EPOCH:
                scheduler.step()
        if name == "plateau":
            scheduler.step(total)
        elif name in PER_EPOCH:
            scheduler.step()
    results[name] = total
    print(f"{name}: first {first!r} last epoch {total!r} lr {optimizer.param_groups[0]['lr']!r}")
assert all(math.isfinite(v) and v < 0.3 for v in results.values()), results
