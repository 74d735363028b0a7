"""Classify long documents; the batch is halved until one fits into the memory that the batch system allows."""

import resource

import torch
import torch.nn.functional as F
from torch import Tensor, nn

WORDS, TOPICS, LENGTH = 300, 5, 240


def limit_memory(more: int) -> None:
    """What the batch system does for every job: so many bytes on top of what Python has mapped already."""
    pages = int(open("/proc/self/statm").read().split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + more,) * 2)


def write_documents(n: int) -> tuple[Tensor, Tensor]:
    topic = torch.randint(TOPICS, (n,))
    words = torch.randint(WORDS, (n, LENGTH))
    on_topic = torch.rand(n, LENGTH) < 0.3
    words[on_topic] = (words % (WORDS // TOPICS) + topic[:, None] * (WORDS // TOPICS))[on_topic]
    return words, topic


class Reader(nn.Module):
    def __init__(self, dim: int = 24):
        super().__init__()
        self.embedding = nn.Embedding(WORDS, dim)
        self.queries, self.keys = nn.Linear(dim, dim), nn.Linear(dim, dim)
        self.head = nn.Linear(dim, TOPICS)

    def forward(self, words: Tensor) -> Tensor:
        x = self.embedding(words)
        weights = (self.queries(x) @ self.keys(x).transpose(1, 2) / x.shape[-1] ** 0.5).softmax(dim=-1)
        return self.head((x + weights @ x).mean(dim=1))


def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, words: Tensor, topic: Tensor) -> float:
    loss = F.cross_entropy(model(words), topic)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


torch.set_num_threads(1)
torch.manual_seed(0)
model = Reader()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
words, topic = write_documents(1024)
limit_memory(250_000_000)
batch, losses, step = 256, [], 0
while step < 40:
    rows = torch.randint(len(words), (batch,))
    try:
        losses.append(train_step(model, optimizer, words[rows], topic[rows]))
    except RuntimeError as error:
        if "allocate memory" not in str(error) or batch == 1:
            raise
        batch //= 2
        print(f"out of memory: going on with batches of {batch}")
        continue
    step += 1
print(f"loss {losses[0]:.3f} at first, {losses[-1]:.3f} in the end, batches of {batch}")
