"""Hand-written data parallelism: local gradients averaged with all_reduce on two ranks."""
import argparse
import os
import socket

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn as nn


def average_gradients(model):
    size = float(dist.get_world_size())
    for param in model.parameters():
        dist.all_reduce(param.grad, op=dist.ReduceOp.SUM)
        param.grad /= size


def partition(rank, world, n=640):
    g = torch.Generator().manual_seed(5)
    x = torch.rand(n, 10, generator=g) * 2 - 1
    y = ((x[:, :3] ** 2).sum(1) > 1).long()
    return x[rank::world], y[rank::world]


def run(rank, args, port):
    os.environ["MASTER_ADDR"] = "127.0.0.1"
    os.environ["MASTER_PORT"] = str(port)
    torch.set_num_threads(1)
    dist.init_process_group("gloo", rank=rank, world_size=args.ranks)
    torch.manual_seed(1234 + rank)
    x, y = partition(rank, args.ranks)
    model = nn.Sequential(nn.Linear(10, 40), nn.ReLU(), nn.Linear(40, 2))
    for parameter in model.parameters():
        dist.broadcast(parameter.data, src=0)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for epoch in range(args.epochs):
        total = 0.0
        for at in torch.randperm(len(x)).split(32):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(x[at]), y[at])
            loss.backward()
            average_gradients(model)
            optimizer.step()
            total += loss.item()
        if rank == 0 and epoch % 5 == 4:
            print(f"rank {rank} epoch {epoch} loss {total / 10:.4f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--epochs", type=int, default=20)
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        free_port = s.getsockname()[1]
    options = parser.parse_args()
    mp.spawn(run, args=(options, free_port), nprocs=options.ranks)
