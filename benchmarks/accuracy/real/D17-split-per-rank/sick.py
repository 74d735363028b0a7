"""Data-parallel training of a robot policy on two processes (gloo), with a random validation split."""
import os
import socket

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset, random_split

WORLD = 2


def episodes(n=512):
    g = torch.Generator().manual_seed(0)
    observation = torch.randn(n, 10, generator=g)
    action = torch.tanh(observation @ torch.randn(10, 3, generator=g))
    return TensorDataset(observation, action)


def train(rank, port):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), RANK=str(rank), WORLD_SIZE=str(WORLD))
    dist.init_process_group("gloo", rank=rank, world_size=WORLD)
    torch.set_num_threads(1)
    torch.manual_seed(1234 + rank * 12345)
    dataset = episodes()
    train_set, val_set = random_split(dataset, [448, 64])  # <- PM808
    sampler = DistributedSampler(train_set, num_replicas=WORLD, rank=rank)
    loader = DataLoader(train_set, batch_size=32, sampler=sampler)
    val_loader = DataLoader(val_set, batch_size=64)
    policy = DDP(nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 3)))
    optimizer = torch.optim.Adam(policy.parameters(), lr=5e-3)
    for epoch in range(6):
        sampler.set_epoch(epoch)
        policy.train()
        for observation, action in loader:
            loss = nn.functional.mse_loss(policy(observation), action)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        policy.eval()
        with torch.no_grad():
            val = torch.stack([nn.functional.mse_loss(policy(o), a) for o, a in val_loader]).mean()
        dist.all_reduce(val)
        if rank == 0:
            print(f"epoch {epoch} loss {loss.item():.4f} val {val.item() / WORLD:.4f}")
    dist.destroy_process_group()


if __name__ == "__main__":
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        free_port = s.getsockname()[1]
    mp.spawn(train, args=(free_port,), nprocs=WORLD)
