"""Averages of weights: torch's AveragedModel with update_bn, and an EMA that is swapped in for evaluation and out again."""

import contextlib

import torch
from torch import nn
from torch.optim.swa_utils import SWALR, AveragedModel, update_bn
from torch.utils.data import DataLoader, TensorDataset


class EMA:
    def __init__(self, model, decay):
        self.decay = decay
        self.shadow = {k: v.detach().clone() for k, v in model.state_dict().items()}

    @torch.no_grad()
    def update(self, model):
        for k, v in model.state_dict().items():
            if v.dtype.is_floating_point:
                self.shadow[k].mul_(self.decay).add_(v, alpha=1 - self.decay)
            else:
                self.shadow[k].copy_(v)

    @contextlib.contextmanager
    def swapped_in(self, model):
        backup = {k: v.detach().clone() for k, v in model.state_dict().items()}
        model.load_state_dict(self.shadow)
        yield
        model.load_state_dict(backup)


def moons(n, seed):
    g = torch.Generator().manual_seed(seed)
    t = torch.pi * torch.rand(n, generator=g)
    y = torch.randint(2, (n,), generator=g)
    x = torch.stack([t.cos() + y * 1.0, torch.where(y == 1, 0.5 - t.sin(), t.sin())], 1)
    return TensorDataset(x + 0.15 * torch.randn(n, 2, generator=g), y)


@torch.no_grad()
def evaluate(model, data):
    model.eval()
    accuracy = (model(data.tensors[0]).argmax(1) == data.tensors[1]).float().mean().item()
    model.train()
    return accuracy


torch.set_num_threads(1)
torch.manual_seed(0)
train, val = moons(960, 0), moons(400, 1)
loader = DataLoader(train, batch_size=32, shuffle=True)
model = nn.Sequential(nn.Linear(2, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=6)
averaged, swa_scheduler, swa_start = AveragedModel(model), SWALR(optimizer, swa_lr=0.05, anneal_epochs=2), 4
ema = EMA(model, 0.95)
for epoch in range(7):
    for x, y in loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        ema.update(model)
    if epoch >= swa_start:
        averaged.update_parameters(model)
        swa_scheduler.step()
    else:
        scheduler.step()
    plain = evaluate(model, val)
    with ema.swapped_in(model):
        shadow = evaluate(model, val)
    print(epoch, loss.item(), plain, shadow, optimizer.param_groups[0]["lr"])
update_bn(loader, averaged)
print("averaged", evaluate(averaged, val))
assert evaluate(averaged, val) > 0.93 and shadow > 0.93
