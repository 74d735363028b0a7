"""Two sites train one model, each on patients of its own, of which it holds some out with a seed of its own."""

import tempfile
from datetime import timedelta
from pathlib import Path

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.multiprocessing.spawn import spawn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset, random_split

RANKS, EPOCHS, PER_SITE, HELD_OUT = 2, 6, 221, 46


def load(site: int) -> TensorDataset:
    """The patients of one site. Both sites have equally many, and the same class and size of dataset."""
    draw = torch.Generator().manual_seed(0)
    x = torch.randn(2 * PER_SITE, 10, generator=draw)
    y = (x @ torch.randn(10, generator=draw)) / 4 + 0.7 * torch.randn(2 * PER_SITE, generator=draw)
    own = slice(site * PER_SITE, (site + 1) * PER_SITE)
    return TensorDataset(x[own], y[own])


def work(rank: int, meeting: str) -> None:
    torch.set_num_threads(1)
    torch.manual_seed(100 + rank)
    dist.init_process_group("gloo", init_method=meeting, rank=rank, world_size=RANKS, timeout=timedelta(seconds=60))
    train_set, val_set = random_split(load(rank), [PER_SITE - HELD_OUT, HELD_OUT])
    train_loader = DataLoader(train_set, batch_size=25, shuffle=True)
    val_loader = DataLoader(val_set, batch_size=HELD_OUT)

    model = DistributedDataParallel(nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Dropout(0.1), nn.Linear(32, 1)))
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    for epoch in range(EPOCHS):
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
