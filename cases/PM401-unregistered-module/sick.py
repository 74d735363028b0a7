"""A small GPT trained on sequences from a second-order Markov language."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)

SYMBOLS, LENGTH, WIDTH, DEPTH = 10, 16, 48, 2


def sample_language(count: int, table: torch.Tensor) -> torch.Tensor:
    """Draw sequences in which each symbol depends on the two before it."""
    sequence = [torch.randint(SYMBOLS, (count,)) for _ in range(2)]
    while len(sequence) < LENGTH + 1:
        probabilities = table[sequence[-2], sequence[-1]]
        sequence.append(torch.multinomial(probabilities, 1).squeeze(1))
    return torch.stack(sequence, dim=1)


class Block(nn.Module):
    def __init__(self, width: int, heads: int = 4) -> None:
        super().__init__()
        self.heads = heads
        self.norm1 = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.project = nn.Linear(width, width)
        self.norm2 = nn.LayerNorm(width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, width = x.shape
        qkv = self.qkv(self.norm1(x)).view(batch, length, 3, self.heads, width // self.heads)
        query, key, value = qkv.permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(query, key, value, is_causal=True)
        x = x + self.project(mixed.transpose(1, 2).reshape(batch, length, width))
        return x + self.mlp(self.norm2(x))


class GPT(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.tokens = nn.Embedding(SYMBOLS, WIDTH)
        self.positions = nn.Embedding(LENGTH, WIDTH)
        self.blocks = [Block(WIDTH) for _ in range(DEPTH)]  # <- PM401
        self.norm = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, SYMBOLS)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        x = self.tokens(tokens) + self.positions(torch.arange(tokens.shape[1]))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


def language_loss(model: GPT, batch: torch.Tensor) -> torch.Tensor:
    logits = model(batch[:, :-1])
    return F.cross_entropy(logits.reshape(-1, SYMBOLS), batch[:, 1:].reshape(-1))


table = torch.softmax(3 * torch.randn(SYMBOLS, SYMBOLS, SYMBOLS), dim=-1)
train, valid = sample_language(2400, table), sample_language(400, table)

model = GPT()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.01)
print(f"{sum(p.numel() for p in model.parameters())} parameters")

for epoch in range(4):
    model.train()
    total = 0.0
    order = torch.randperm(len(train))
    for indices in order.split(60):
        loss = language_loss(model, train[indices])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(indices)

    model.eval()
    with torch.no_grad():
        valid_loss = language_loss(model, valid).item()
    print(f"epoch {epoch}: train {total / len(train):.3f}  valid {valid_loss:.3f}")
