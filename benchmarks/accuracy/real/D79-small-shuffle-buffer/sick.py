"""Text topics from archive files written topic after topic, read as a stream with a shuffle buffer."""
import argparse
import random

import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset

VOCAB, TOPICS = 60, 5


def archive(per_topic, seed):
    g = torch.Generator().manual_seed(seed)
    taste = torch.Generator().manual_seed(0)
    profiles = (torch.randn(TOPICS, VOCAB, generator=taste) * 0.5).exp()
    for topic in range(TOPICS):
        bags = torch.poisson(profiles[topic].expand(per_topic, VOCAB) * 0.6, generator=g)
        for bag in bags:
            yield bag, topic


class BufferedShuffle(IterableDataset):
    def __init__(self, per_topic, buffer_size, seed=0):
        self.per_topic, self.buffer_size, self.seed = per_topic, buffer_size, seed

    def __iter__(self):
        rng, buffer = random.Random(self.seed), []
        self.seed += 1
        for sample in archive(self.per_topic, seed=1):
            if len(buffer) < self.buffer_size:
                buffer.append(sample)
                continue
            at = rng.randrange(self.buffer_size)
            yield buffer[at]
            buffer[at] = sample
        rng.shuffle(buffer)
        yield from buffer


def evaluate(model, loader):
    model.eval()
    right = total = 0
    with torch.no_grad():
        for bags, topics in loader:
            right += (model(bags).argmax(1) == topics).sum().item()
            total += len(topics)
    return right / total


def main(args):
    torch.manual_seed(args.seed)
    train_loader = DataLoader(BufferedShuffle(args.per_topic, args.buffer), batch_size=args.batch_size)  # <- PM306
    held_out = [(bag, topic) for bag, topic in archive(40, seed=2)]
    test_loader = DataLoader(held_out, batch_size=50)
    model = nn.Sequential(nn.Linear(VOCAB, 48), nn.ReLU(), nn.Linear(48, TOPICS))
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9)
    for epoch in range(args.epochs):
        model.train()
        for bags, topics in train_loader:
            loss = nn.functional.cross_entropy(model(bags), topics)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch} last loss {loss.item():.3f} test accuracy {evaluate(model, test_loader):.3f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--per-topic", type=int, default=200)
    parser.add_argument("--buffer", type=int, default=32)
    parser.add_argument("--batch-size", type=int, default=25)
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--lr", type=float, default=0.02)
    parser.add_argument("--seed", type=int, default=0)
    main(parser.parse_args())
