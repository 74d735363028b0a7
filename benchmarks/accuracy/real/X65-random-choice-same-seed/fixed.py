"""Clip-to-caption toy on two ranks: the dataset draws a random clip on each access."""
import os
import random
import socket

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, Dataset

WORLD = 2


def seed_everything(seed):
    random.seed(seed)
    torch.manual_seed(seed)


class RandomClips(Dataset):
    def __init__(self, clips=400, length=240):
        g = torch.Generator().manual_seed(0)
        self.features = torch.randn(clips, 20, generator=g)
        self.words = (self.features @ torch.randn(20, 8, generator=g)).argmax(1)
        self.length = length

    def __len__(self):
        return self.length

    def __getitem__(self, _):
        i = random.choice(range(len(self.words)))
        return self.features[i], self.words[i]


def main(rank, port):
    torch.set_num_threads(1)
    os.environ["MASTER_ADDR"], os.environ["MASTER_PORT"] = "127.0.0.1", str(port)
    dist.init_process_group("gloo", rank=rank, world_size=WORLD)
    seed_everything(123 + rank)
    loader = DataLoader(RandomClips(), batch_size=24)
    model = DDP(nn.Sequential(nn.Linear(20, 48), nn.ReLU(), nn.Linear(48, 8)))
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    for epoch in range(12):
        for features, words in loader:
            loss = nn.functional.cross_entropy(model(features), words)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if rank == 0 and epoch % 3 == 2:
            print(f"epoch {epoch} loss {loss.item():.4f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        free = s.getsockname()[1]
    mp.spawn(main, args=(free,), nprocs=WORLD)
