"""Activation checkpointing with dropout inside, saved-tensor hooks, and DistributedDataParallel on two gloo processes."""

import os
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.checkpoint import checkpoint
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler


class Deep(nn.Module):
    def __init__(self, depth=4, width=32):
        super().__init__()
        self.inp = nn.Linear(8, width)
        self.blocks = nn.ModuleList(
            nn.Sequential(nn.Linear(width, width), nn.LayerNorm(width), nn.ReLU(), nn.Dropout(0.05))
            for _ in range(depth)
        )
        self.out = nn.Linear(width, 1)

    def forward(self, x):
        h = self.inp(x)
        for i, block in enumerate(self.blocks):
            h = h + checkpoint(block, h, use_reentrant=i % 2 == 0)
        return self.out(h)


def data():
    g = torch.Generator().manual_seed(0)
    x = torch.randn(512, 8, generator=g)
    return TensorDataset(x, (x[:, :1] * x[:, 1:2] + x[:, 2:3]).tanh())


def single():
    torch.manual_seed(0)
    model = Deep()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    packed = 0

    def pack(t):
        nonlocal packed
        packed += 1
        return t

    for epoch in range(4):
        for x, y in DataLoader(data(), batch_size=64, shuffle=True):
            with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
                loss = nn.functional.mse_loss(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print("single", epoch, loss.item(), packed)
    assert loss < 0.2


def worker(rank, world, rendezvous, results):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{rendezvous}", rank=rank, world_size=world)
    torch.manual_seed(0)
    model = DistributedDataParallel(Deep(depth=2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    sampler = DistributedSampler(data(), world, rank)
    for epoch in range(4):
        sampler.set_epoch(epoch)
        for x, y in DataLoader(data(), batch_size=32, sampler=sampler):
            loss = nn.functional.mse_loss(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    results[rank] = loss.item()
    dist.destroy_process_group()


if __name__ == "__main__":
    torch.set_num_threads(1)
    single()
    with tempfile.TemporaryDirectory() as folder, mp.Manager() as manager:
        results = manager.dict()
        mp.spawn(worker, args=(2, os.path.join(folder, "meet"), results), nprocs=2)
        print("distributed", dict(sorted(results.items())))
