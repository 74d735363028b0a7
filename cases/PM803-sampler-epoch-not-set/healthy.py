"""Handwritten digits, data-parallel. Several samplers are never told the epoch, and none of them has to be."""

import torch
import torch.distributed as dist
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

EPOCHS, BATCH = 5, 64


def load() -> tuple[TensorDataset, TensorDataset]:
    images, digits = load_digits(return_X_y=True)
    x, y = torch.tensor(images, dtype=torch.float32), torch.tensor(digits)
    order = torch.randperm(len(x), generator=torch.Generator().manual_seed(0))
    train, held_out = order[:1400], order[1400:]
    return TensorDataset(x[train], y[train]), TensorDataset(x[held_out], y[held_out])


def scale_of(loader: DataLoader) -> Tensor:
    """A pass over the training data before the training: its order is that of the first epoch."""
    return torch.stack([x.abs().max() for x, _ in loader]).max()


def accuracy(model: nn.Module, loader: DataLoader, scale: Tensor) -> float:
    """The order of an evaluation does not matter, so its sampler may shuffle as it likes."""
    model.eval()
    hits = torch.cat([model(x / scale).argmax(dim=1) == y for x, y in loader])
    model.train()
    return hits.float().mean().item()


def main() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    train_set, val_set = load()
    sampler = DistributedSampler(train_set)
    train_loader = DataLoader(train_set, BATCH, sampler=sampler, drop_last=True)
    val_loader = DataLoader(val_set, 128, sampler=DistributedSampler(val_set))
    scale = scale_of(train_loader)
    model = DistributedDataParallel(nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10)))
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for epoch in range(EPOCHS):
        sampler.epoch = epoch
        for x, y in train_loader:
            loss = F.cross_entropy(model(x / scale), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch}  loss {loss.item():.3f}  val acc {accuracy(model, val_loader, scale):.3f}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
