"""Data-parallel training over two hospital sites (gloo on CPU)."""
import os

import numpy as np
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, TensorDataset

WORLD = 2
torch.set_num_threads(1)


def site_data(site, n, seed):
    """Both sites share the physiology but see different patient groups."""
    rng = np.random.default_rng(seed + 100 * site)
    age = rng.normal(-0.9 if site == 0 else 0.9, 0.5, n)
    labs = rng.normal(0, 1, (n, 7))
    x = np.concatenate([age[:, None], labs], 1)
    risk = np.where(age < 0, 1.5 * labs[:, 0] - labs[:, 1], -1.5 * labs[:, 2] + labs[:, 3] + 0.5 * labs[:, 0] * labs[:, 4])
    y = (risk + rng.normal(0, 0.3, n) > 0).astype(np.int64)
    return torch.from_numpy(x.astype(np.float32)), torch.from_numpy(y)


class RiskModel(nn.Module):
    def __init__(self, d=8, width=48):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(d, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.head = nn.Linear(width, 2)

    def forward(self, x, y=None):
        logits = self.head(self.encoder(x))
        if y is None:
            return logits
        return self.compute_loss(logits, y)

    def compute_loss(self, logits, y):
        return F.cross_entropy(logits, y, label_smoothing=0.02)

    def training_step(self, x, y):
        return self.compute_loss(self.head(self.encoder(x)), y)


def worker(rank):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=os.environ.get("MASTER_PORT", "29541"))
    dist.init_process_group("gloo", rank=rank, world_size=WORLD)
    torch.manual_seed(0)
    model = DDP(RiskModel())
    loader = DataLoader(TensorDataset(*site_data(rank, 1200, seed=1)), batch_size=32, shuffle=True,
                        generator=torch.Generator().manual_seed(rank))
    opt = torch.optim.Adam(model.parameters(), lr=3e-3)

    for epoch in range(8):
        model.train()
        total = torch.zeros(1)
        for x, y in loader:
            loss = model(x, y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.detach()
        dist.all_reduce(total)
        if rank == 0 and epoch % 2 == 1:
            print(f"epoch {epoch} loss {total.item() / WORLD / len(loader):.4f}", flush=True)

    if rank == 0:
        model.eval()
        with torch.no_grad():
            accs = []
            for site in range(WORLD):
                x, y = site_data(site, 800, seed=2)
                accs.append((model.module(x).argmax(1) == y).float().mean().item())
        print(f"test accuracy site A {accs[0]:.3f} site B {accs[1]:.3f} mean {np.mean(accs):.3f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    mp.spawn(worker, nprocs=WORLD, join=True)
