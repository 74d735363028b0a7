"""Wine cultivars on two ranks; the mean loss of both is shown by the first one."""

import tempfile
from datetime import timedelta
from pathlib import Path

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.multiprocessing.spawn import spawn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

RANKS, EPOCHS = 2, 8


def load() -> tuple[TensorDataset, TensorDataset]:
    """Chemical analyses of three cultivars."""
    draw = torch.Generator().manual_seed(0)
    y = torch.arange(178) % 3
    x = 1.2 * torch.randn(3, 13, generator=draw)[y] + torch.randn(178, 13, generator=draw)
    order = torch.randperm(len(x), generator=draw)
    train, held_out = order[:128], order[128:]
    return TensorDataset(x[train], y[train]), TensorDataset(x[held_out], y[held_out])


def work(rank: int, meeting: str) -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    dist.init_process_group("gloo", init_method=meeting, rank=rank, world_size=RANKS, timeout=timedelta(seconds=4))
    train_set, val_set = load()
    sampler = DistributedSampler(train_set)
    train_loader = DataLoader(train_set, batch_size=16, sampler=sampler)
    val_loader = DataLoader(val_set, batch_size=50)

    model = DistributedDataParallel(nn.Sequential(nn.Linear(13, 24), nn.ReLU(), nn.Linear(24, 3)))
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    for epoch in range(EPOCHS):
        sampler.set_epoch(epoch)
        model.train()
        for x, y in train_loader:
            loss = F.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            hits = torch.cat([model(x).argmax(dim=1) == y for x, y in val_loader]).float().mean()
        mean_loss = loss.detach() / RANKS
        dist.all_reduce(mean_loss)
        if rank == 0:
            print(f"epoch {epoch}  loss {mean_loss.item():.3f}  val acc {hits.item():.3f}")
    dist.destroy_process_group()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        spawn(work, args=((Path(folder) / "meeting").as_uri(),), nprocs=RANKS)
