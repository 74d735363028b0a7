"""Match sentences with self-attention over whole documents, on a node where the job may use a few gigabytes."""

import resource

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

WORDS, TOPICS = 400, 6


def limit_memory(more: int) -> None:
    """What the batch system does for every job: so many bytes on top of what Python has mapped already."""
    pages = int(open("/proc/self/statm").read().split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + more,) * 2)


def write_documents(n: int, length: int) -> TensorDataset:
    topic = torch.randint(TOPICS, (n,))
    words = torch.randint(WORDS, (n, length))
    on_topic = torch.rand(n, length) < 0.2
    words[on_topic] = (words % (WORDS // TOPICS) + topic[:, None] * (WORDS // TOPICS))[on_topic]
    return TensorDataset(words, topic)


class Attention(nn.Module):
    def __init__(self, dim: int):
        super().__init__()
        self.queries, self.keys, self.values = (nn.Linear(dim, dim) for _ in range(3))

    def forward(self, x: Tensor) -> Tensor:
        scores = self.queries(x) @ self.keys(x).transpose(1, 2) / x.shape[-1] ** 0.5  # <- PM704
        weights = scores.softmax(dim=-1)
        return x + weights @ self.values(x)


class Reader(nn.Module):
    def __init__(self, dim: int = 32, layers: int = 3):
        super().__init__()
        self.embedding = nn.Embedding(WORDS, dim)
        self.layers = nn.ModuleList(Attention(dim) for _ in range(layers))
        self.head = nn.Linear(dim, TOPICS)

    def forward(self, words: Tensor) -> Tensor:
        x = self.embedding(words)
        for layer in self.layers:
            x = layer(x)
        return self.head(x.mean(dim=1))


def train(model: nn.Module, data: TensorDataset, batch_size: int) -> None:
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for words, topic in DataLoader(data, batch_size=batch_size, shuffle=True):
        loss = F.cross_entropy(model(words), topic)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"{batch_size} documents per batch: loss {loss.item():.3f}")


torch.set_num_threads(1)
torch.manual_seed(0)
model = Reader()
train(model, write_documents(400, length=40), batch_size=40)
limit_memory(900_000_000)
train(model, write_documents(400, length=1200), batch_size=50)
