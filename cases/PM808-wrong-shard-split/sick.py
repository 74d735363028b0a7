"""Diabetes progression on two ranks; each rank has a seed of its own, so that dropout differs between them."""

import tempfile
from datetime import timedelta
from pathlib import Path

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn, randperm
from torch.multiprocessing.spawn import spawn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, Subset, TensorDataset

RANKS, EPOCHS, HELD_OUT = 2, 6, 92


def load() -> TensorDataset:
    """Ten measurements of each patient, and how the illness went on."""
    draw = torch.Generator().manual_seed(0)
    x = torch.randn(442, 10, generator=draw)
    return TensorDataset(x, (x @ torch.randn(10, generator=draw)) / 4 + 0.7 * torch.randn(442, generator=draw))


def work(rank: int, meeting: str) -> None:
    torch.set_num_threads(1)
    torch.manual_seed(100 + rank)
    dist.init_process_group("gloo", init_method=meeting, rank=rank, world_size=RANKS, timeout=timedelta(seconds=60))
    dataset = load()
    order = randperm(len(dataset))  # <- PM808
    train_set, val_set = Subset(dataset, order[HELD_OUT:].tolist()), Subset(dataset, order[:HELD_OUT].tolist())
    sampler = DistributedSampler(train_set)
    train_loader = DataLoader(train_set, batch_size=25, sampler=sampler, drop_last=True)
    val_loader = DataLoader(val_set, batch_size=HELD_OUT)

    model = DistributedDataParallel(nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Dropout(0.1), nn.Linear(32, 1)))
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    for epoch in range(EPOCHS):
        sampler.set_epoch(epoch)
        model.train()
        for x, y in train_loader:
            loss = F.mse_loss(model(x).squeeze(1), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            error = torch.stack([F.mse_loss(model(x).squeeze(1), y) for x, y in val_loader]).mean()
        dist.all_reduce(error)
        if rank == 0:
            print(f"epoch {epoch}  loss {loss.item():.3f}  val {error.item() / RANKS:.3f}")
    dist.destroy_process_group()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        spawn(work, args=((Path(folder) / "meeting").as_uri(),), nprocs=RANKS)
