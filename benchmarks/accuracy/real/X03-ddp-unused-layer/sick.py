"""Anchor-style detector head trained with DistributedDataParallel on two CPU processes."""
import os
import socket

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel


class AnchorHead(nn.Module):
    def __init__(self, dim=16, queries=4):
        super().__init__()
        self.anchors = nn.Parameter(torch.rand(queries, 2))
        self.input_proj = nn.Linear(dim, 32)
        self.norm = nn.LayerNorm(32)  # <- PM804
        self.adapt_pos = nn.Linear(2, 32)
        self.box = nn.Linear(32, 4)

    def forward(self, feats):
        x = torch.relu(self.input_proj(feats)).unsqueeze(1)
        return self.box(x + self.adapt_pos(self.anchors)).sigmoid().mean(1)


def worker(rank, world_size, port):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), RANK=str(rank), WORLD_SIZE=str(world_size))
    torch.set_num_threads(1)
    dist.init_process_group("gloo", rank=rank, world_size=world_size)
    torch.manual_seed(rank)
    model = DistributedDataParallel(AnchorHead())
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    mixing = torch.randn(16, 4, generator=torch.Generator().manual_seed(0))
    for step in range(60):
        feats = torch.randn(16, 16)
        boxes = torch.sigmoid(feats @ mixing / 4)
        loss = nn.functional.l1_loss(model(feats), boxes)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if rank == 0 and step % 10 == 0:
            print(f"step {step} loss {loss.item():.4f}")
    dist.destroy_process_group()


if __name__ == "__main__":
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        free = s.getsockname()[1]
    mp.spawn(worker, args=(2, free), nprocs=2)
