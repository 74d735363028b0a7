import torch
import torch.nn.functional as F
from torch import nn
from torch.optim.lr_scheduler import LambdaLR

torch.manual_seed(12)
torch.set_num_threads(1)
STAGE1, STAGE2 = 150, 250


def phrases(n, flip):
    proj = torch.randn(24, 5, generator=torch.Generator().manual_seed(99))
    x = torch.randn(n, 24)
    y = (torch.tanh(x) @ proj).argmax(1)
    noisy = torch.where((torch.rand(n) < flip) & (y < 3), (y + 1) % 3, y)
    return x, noisy, y


def make_optimizer(model):
    optimizer = torch.optim.AdamW(model.parameters(), lr=4e-3)
    return optimizer, LambdaLR(optimizer, lambda s: max(0.0, 1 - s / STAGE1))


def fit(model, optimizer, scheduler, x, y, steps):
    model.train()
    for step in range(steps):
        i = torch.randint(0, len(x), (48,))
        loss = F.cross_entropy(model(x[i]), y[i])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        if step % 50 == 49:
            print(f"  step {step + 1} loss {loss.item():.4f}")


def accuracy(model, x, y):
    model.eval()
    with torch.no_grad():
        return (model(x).argmax(1) == y).float().mean().item()


distant_x, distant_y, _ = phrases(2000, flip=0.7)
gold_x, gold_y, _ = phrases(800, flip=0.0)
val_x, val_y, _ = phrases(1000, flip=0.0)

model = nn.Sequential(nn.Linear(24, 64), nn.ReLU(), nn.Linear(64, 5))
optimizer, scheduler = make_optimizer(model)
print("stage 1: distant labels")
fit(model, optimizer, scheduler, distant_x, distant_y, STAGE1)
print(f"after stage 1 accuracy {accuracy(model, val_x, val_y):.3f}")

print("stage 2: hand-checked labels")
optimizer = torch.optim.AdamW(model.parameters(), lr=4e-3)
scheduler = LambdaLR(optimizer, lambda s: max(0.0, 1 - s / STAGE2))
fit(model, optimizer, scheduler, gold_x, gold_y, STAGE2)
print(f"after stage 2 accuracy {accuracy(model, val_x, val_y):.3f}")
