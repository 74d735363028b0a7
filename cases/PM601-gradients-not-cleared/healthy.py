"""A character GPT on sentences from a toy grammar, with gradient accumulation and warm-up."""

import math
import random

import torch
import torch.nn.functional as F
from torch import nn

SUBJECTS = ["the fox", "a small dog", "my old cat", "the green bird", "one quiet child"]
VERBS = ["sees", "follows", "likes", "finds", "hears"]
OBJECTS = ["the river", "a red house", "some music", "the long road", "a warm stone"]

BLOCK, BATCH, ACCUMULATE, UPDATES, WARMUP = 48, 8, 4, 90, 10


def make_text(sentences: int, seed: int) -> str:
    rng = random.Random(seed)
    return " ".join(f"{rng.choice(SUBJECTS)} {rng.choice(VERBS)} {rng.choice(OBJECTS)}." for _ in range(sentences))


class Block(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        b, t, w = x.shape
        q, k, v = (z.view(b, t, self.heads, -1).transpose(1, 2) for z in self.qkv(self.norm1(x)).chunk(3, dim=-1))
        attended = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(attended.transpose(1, 2).reshape(b, t, w))
        return x + self.mlp(self.norm2(x))


class GPT(nn.Module):
    def __init__(self, vocabulary: int, width: int = 48, layers: int = 2, heads: int = 4) -> None:
        super().__init__()
        self.token, self.position = nn.Embedding(vocabulary, width), nn.Embedding(BLOCK, width)
        self.blocks = nn.Sequential(*[Block(width, heads) for _ in range(layers)])
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, vocabulary, bias=False)
        nn.init.normal_(self.token.weight, std=0.1)
        nn.init.normal_(self.position.weight, std=0.1)
        self.head.weight = self.token.weight

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        x = self.token(ids) + self.position(torch.arange(ids.shape[1]))
        return self.head(self.norm(self.blocks(x)))


def sample_batch(data: torch.Tensor, size: int) -> tuple[torch.Tensor, torch.Tensor]:
    starts = torch.randint(len(data) - BLOCK - 1, (size,)).tolist()
    return (
        torch.stack([data[s : s + BLOCK] for s in starts]),
        torch.stack([data[s + 1 : s + BLOCK + 1] for s in starts]),
    )


@torch.no_grad()
def validation_loss(model: GPT, data: torch.Tensor) -> float:
    model.eval()
    x, y = sample_batch(data, 64)
    loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten())
    model.train()
    return loss.item()


def main() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(1)
    train_text, val_text = make_text(400, seed=1), make_text(80, seed=2)
    characters = sorted(set(train_text))
    index = {c: i for i, c in enumerate(characters)}
    train_data, val_data = (torch.tensor([index[c] for c in text]) for text in (train_text, val_text))

    model = GPT(len(characters))
    optimizer = torch.optim.AdamW(model.parameters(), lr=4e-3, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda s: min(1.0, (s + 1) / WARMUP) * (0.55 + 0.45 * math.cos(math.pi * s / UPDATES))
    )
    print(f"uniform guess: {math.log(len(characters)):.3f}  before training: {validation_loss(model, val_data):.3f}")

    optimizer.zero_grad()
    for step in range(UPDATES * ACCUMULATE):
        x, y = sample_batch(train_data, BATCH)
        loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten()) / ACCUMULATE
        loss.backward()
        if (step + 1) % ACCUMULATE == 0:
            optimizer.step()
            schedule.step()
            optimizer.zero_grad()
        if (step + 1) % (30 * ACCUMULATE) == 0:
            print(
                f"update {(step + 1) // ACCUMULATE}: train {loss.item() * ACCUMULATE:.3f}  "
                f"val {validation_loss(model, val_data):.3f}"
            )


if __name__ == "__main__":
    main()
