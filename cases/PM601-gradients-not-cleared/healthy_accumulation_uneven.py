"""Tag tokens of padded sequences with a BiGRU; accumulation windows weighted by tokens, short last window."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader

VOCAB, TAGS, PAD, IGNORE = 40, 5, 0, -100
ACCUMULATE = 4

Sample = tuple[torch.Tensor, torch.Tensor]


def make_samples(count: int, generator: torch.Generator) -> list[Sample]:
    """The tag of a token depends on the token itself and on its left neighbour."""
    samples = []
    for _ in range(count):
        length = int(torch.randint(4, 25, (1,), generator=generator))
        tokens = torch.randint(1, VOCAB, (length,), generator=generator)
        left = torch.cat([torch.zeros(1, dtype=torch.long), tokens[:-1]])
        samples.append((tokens, (tokens + 2 * (left > VOCAB // 2)) % TAGS))
    return samples


def collate(batch: list[Sample]) -> Sample:
    tokens, tags = zip(*batch)
    return (
        pad_sequence(tokens, batch_first=True, padding_value=PAD),
        pad_sequence(tags, batch_first=True, padding_value=IGNORE),
    )


class Tagger(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(VOCAB, 24, padding_idx=PAD)
        self.rnn = nn.GRU(24, 32, batch_first=True, bidirectional=True)
        self.head = nn.Linear(64, TAGS)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        lengths = (tokens != PAD).sum(1)
        packed = nn.utils.rnn.pack_padded_sequence(self.embed(tokens), lengths, batch_first=True, enforce_sorted=False)
        hidden, _ = nn.utils.rnn.pad_packed_sequence(self.rnn(packed)[0], batch_first=True)
        return self.head(hidden)


def summed_loss(model: Tagger, tokens: torch.Tensor, tags: torch.Tensor) -> torch.Tensor:
    return F.cross_entropy(model(tokens).flatten(0, 1), tags.flatten(), ignore_index=IGNORE, reduction="sum")


def train_epoch(model: Tagger, loader: DataLoader, optimizer: torch.optim.Optimizer) -> float:
    model.train()
    batches = list(loader)
    total, tokens_seen = 0.0, 0
    for start in range(0, len(batches), ACCUMULATE):
        window = batches[start : start + ACCUMULATE]
        count = sum(int((tags != IGNORE).sum()) for _, tags in window)
        for tokens, tags in window:
            loss = summed_loss(model, tokens, tags) / count
            loss.backward()
            total += loss.item() * count
        optimizer.step()
        optimizer.zero_grad()
        tokens_seen += count
    return total / tokens_seen


@torch.no_grad()
def accuracy(model: Tagger, loader: DataLoader) -> float:
    model.eval()
    correct = count = 0
    for tokens, tags in loader:
        real = tags != IGNORE
        correct += int((model(tokens).argmax(-1) == tags)[real].sum())
        count += int(real.sum())
    return correct / count


torch.set_num_threads(1)
torch.manual_seed(0)
generator = torch.Generator().manual_seed(7)
train_loader = DataLoader(make_samples(528, generator), batch_size=24, shuffle=True, collate_fn=collate)
val_loader = DataLoader(make_samples(120, generator), batch_size=60, collate_fn=collate)

model = Tagger()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(10):
    loss = train_epoch(model, train_loader, optimizer)
    print(f"epoch {epoch + 1}: loss per token {loss:.3f}  val accuracy {accuracy(model, val_loader):.3f}")
