"""Data-parallel auto-encoder on two CPU ranks; the wrapper is opened to reach encode() and decode()."""
import os
import socket

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


class AutoEncoder(nn.Module):
    def __init__(self, wide=24, narrow=6):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(wide, 32), nn.ReLU(), nn.Linear(32, narrow))
        self.dec = nn.Sequential(nn.Linear(narrow, 32), nn.ReLU(), nn.Linear(32, wide))

    def encode(self, x):
        return self.enc(x)

    def decode(self, z):
        return self.dec(z)

    def forward(self, x):
        return self.decode(self.encode(x))


class Trainer:
    def __init__(self, rank, world):
        self.rank = rank
        torch.manual_seed(0)
        g = torch.Generator().manual_seed(3)
        data = TensorDataset(torch.randn(600, 6, generator=g) @ torch.randn(6, 24, generator=g))
        self.sampler = DistributedSampler(data, num_replicas=world, rank=rank)
        self.loader = DataLoader(data, batch_size=25, sampler=self.sampler)
        self.model = DistributedDataParallel(AutoEncoder())
        self.raw_model = self.model.module
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=3e-3)

    def step(self, x):
        z = self.raw_model.encode(x)  # <- PM805
        loss = F.mse_loss(self.raw_model.decode(z), x)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def fit(self, epochs):
        for epoch in range(epochs):
            self.sampler.set_epoch(epoch)
            losses = [self.step(x) for (x,) in self.loader]
            if self.rank == 0:
                print(f"epoch {epoch} loss {sum(losses) / len(losses):.4f}", flush=True)


def worker(rank, world, port):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    torch.set_num_threads(1)
    dist.init_process_group("gloo", rank=rank, world_size=world)
    Trainer(rank, world).fit(8)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    mp.spawn(worker, args=(2, port), nprocs=2)
