"""One shard of a data-parallel job: a DistributedSampler picks this replica's samples."""
import argparse

import torch
from torch import nn
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

torch.set_num_threads(1)


def reviews(n=800, words=30):
    g = torch.Generator().manual_seed(3)
    counts = torch.poisson(torch.ones(n, words), generator=g)
    taste = torch.randn(words, generator=g)
    stars = (counts @ taste + 0.5 * torch.randn(n, generator=g) > taste.sum()).long()
    return TensorDataset(counts, stars)


def train(args):
    torch.manual_seed(args.seed)
    dataset = reviews()
    train_sampler = DistributedSampler(
        dataset, num_replicas=args.world_size, rank=args.rank, shuffle=True, seed=args.seed
    )
    train_dataloader = DataLoader(dataset, sampler=train_sampler, batch_size=args.batch_size)
    model = nn.Sequential(nn.Linear(30, 32), nn.ReLU(), nn.Linear(32, 2))
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    global_step = 0
    for epoch in range(args.epochs):
        train_sampler.set_epoch(epoch)
        for counts, stars in train_dataloader:
            model.train()
            loss = nn.functional.cross_entropy(model(counts), stars)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            global_step += 1
        print(f"epoch {epoch} step {global_step} loss {loss.item():.4f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--world-size", type=int, default=2)
    parser.add_argument("--rank", type=int, default=0)
    parser.add_argument("--batch-size", type=int, default=20)
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--seed", type=int, default=42)
    train(parser.parse_args())
