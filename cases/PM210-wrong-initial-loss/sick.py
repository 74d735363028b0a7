"""A word-level GPT on farm stories from a small grammar, with tied input and output embeddings."""

import math
import random

import torch
import torch.nn.functional as F
from torch import Tensor, nn

GRAMMAR = [
    ["the", "a", "every", "that"],
    ["old", "young", "hungry", "lazy", "brown", "tiny"],
    ["farmer", "goat", "hen", "dog", "cow", "fox", "horse"],
    ["sees", "feeds", "chases", "likes", "hears", "follows"],
    ["the", "a", "every", "that"],
    ["goose", "calf", "cat", "mouse", "pig", "sheep"],
    ["near", "behind", "inside"],
    ["the"],
    ["barn", "river", "fence", "mill", "field"],
    ["."],
]
WORDS = sorted({word for slot in GRAMMAR for word in slot})
LENGTH = 24


def tell_stories(n: int) -> Tensor:
    stories = []
    for _ in range(n):
        words = [random.choice(slot) for _ in range(4) for slot in GRAMMAR]
        start = random.randrange(len(GRAMMAR))
        stories.append([WORDS.index(word) for word in words[start : start + LENGTH + 1]])
    return torch.tensor(stories)


class Block(nn.Module):
    def __init__(self, dim: int, heads: int):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.qkv, self.proj = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)
        self.mlp = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim))

    def forward(self, x: Tensor) -> Tensor:
        batch, length, dim = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        attended = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.proj(attended.transpose(1, 2).reshape(batch, length, dim))
        return x + self.mlp(self.norm2(x))


class GPT(nn.Module):
    def __init__(self, vocab: int, dim: int = 64, depth: int = 1):
        super().__init__()
        self.words = nn.Embedding(vocab, dim)
        self.positions = nn.Embedding(LENGTH, dim)
        self.blocks = nn.Sequential(*(Block(dim, 4) for _ in range(depth)))
        self.norm = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, vocab, bias=False)
        self.head.weight = self.words.weight

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.words(tokens) + self.positions(torch.arange(tokens.shape[1]))
        return self.head(self.norm(self.blocks(x)))


def language_loss(model: nn.Module, stories: Tensor) -> Tensor:
    logits = model(stories[:, :-1])
    return F.cross_entropy(logits.flatten(0, 1), stories[:, 1:].flatten())


torch.set_num_threads(1)
torch.manual_seed(0)
random.seed(0)
train, val = tell_stories(2000), tell_stories(200)
model = GPT(len(WORDS))
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
print(f"{len(WORDS)} words, ln {len(WORDS)} = {math.log(len(WORDS)):.2f}")
for step in range(201):
    model.train()
    loss = language_loss(model, train[torch.randint(len(train), (16,))])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 40 == 0:
        model.eval()
        with torch.no_grad():
            print(f"step {step:3d}  train loss {loss.item():.3f}  val loss {language_loss(model, val).item():.3f}")
