"""Digits, data-parallel, with parts that get no gradient: frozen, skipped at random, or left out while accumulating."""

import contextlib

import torch
import torch.distributed as dist
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

WIDTH, EPOCHS = 48, 4


class Stack(nn.Module):
    """Stochastic depth: in training each block is skipped now and then, and with it its parameters."""

    def __init__(self, blocks: int = 3, skip: float = 0.3) -> None:
        super().__init__()
        self.embed = nn.Linear(64, WIDTH)
        self.blocks = nn.ModuleList(nn.Linear(WIDTH, WIDTH) for _ in range(blocks))
        self.head = nn.Linear(WIDTH, 10)
        self.decoder = nn.Linear(WIDTH, 64)  # from the pre-training, kept for the checkpoint's sake
        self.skip = skip

    def forward(self, x: Tensor) -> Tensor:
        x = self.embed(x)
        for block in self.blocks:
            if not self.training or torch.rand(()) >= self.skip:
                x = x + F.relu(block(x))
        return self.head(x)


class Plain(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(64, WIDTH), nn.ReLU(), nn.Linear(WIDTH, 10))
        self.decoder = nn.Linear(WIDTH, 64)

    def forward(self, x: Tensor) -> Tensor:
        return self.layers(x)


def train(model: DistributedDataParallel, loader: DataLoader, sampler: DistributedSampler) -> None:
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=2e-3)
    for epoch in range(EPOCHS):
        sampler.set_epoch(epoch)
        for number, (x, y) in enumerate(loader, 1):
            last = number % 2 == 0
            with contextlib.nullcontext() if last else model.no_sync():
                loss = F.cross_entropy(model(x), y) / 2
                loss.backward()
            if last:
                optimizer.step()
                optimizer.zero_grad()
        print(f"epoch {epoch}  loss {2 * loss.item():.3f}")


def main() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    images, digits = load_digits(return_X_y=True)
    dataset = TensorDataset(torch.tensor(images, dtype=torch.float32) / 16, torch.tensor(digits))
    sampler = DistributedSampler(dataset)
    loader = DataLoader(dataset, batch_size=32, sampler=sampler, drop_last=True)
    train(DistributedDataParallel(Stack(), find_unused_parameters=True), loader, sampler)
    plain = Plain()
    plain.decoder.requires_grad_(False)
    train(DistributedDataParallel(plain), loader, sampler)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
