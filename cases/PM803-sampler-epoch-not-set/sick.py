"""Handwritten digits, data-parallel: this is the rank that runs on the development machine, with a budget of steps."""

from collections.abc import Iterator

import torch
import torch.distributed as dist
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

STEPS, BATCH = 120, 64


def load() -> tuple[TensorDataset, TensorDataset]:
    images, digits = load_digits(return_X_y=True)
    x, y = torch.tensor(images, dtype=torch.float32) / 16, torch.tensor(digits)
    order = torch.randperm(len(x), generator=torch.Generator().manual_seed(0))
    train, held_out = order[:1400], order[1400:]
    return TensorDataset(x[train], y[train]), TensorDataset(x[held_out], y[held_out])


def forever(loader: DataLoader) -> Iterator[tuple[Tensor, Tensor]]:
    while True:
        yield from loader  # <- PM803


@torch.no_grad()
def accuracy(model: nn.Module, loader: DataLoader) -> float:
    model.eval()
    hits = torch.cat([model(x).argmax(dim=1) == y for x, y in loader])
    model.train()
    return hits.float().mean().item()


def main() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    train_set, val_set = load()
    train_loader = DataLoader(train_set, BATCH, sampler=DistributedSampler(train_set), drop_last=True)
    val_loader = DataLoader(val_set, 256, sampler=DistributedSampler(val_set, shuffle=False))
    model = DistributedDataParallel(nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10)))
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for step, (x, y) in zip(range(STEPS), forever(train_loader), strict=False):
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 40 == 39:
            print(f"step {step + 1:3d}  loss {loss.item():.3f}  val acc {accuracy(model, val_loader):.3f}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
