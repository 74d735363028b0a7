"""Instruction tuning in miniature: a tiny GPT, tied embeddings, loss on the answer tokens only."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

LETTERS, SEP, EOS = 16, 16, 17
VOCAB, PROMPT, ANSWER = 18, 12, 3
IGNORE = -100


def make_dialogues(n: int) -> TensorDataset:
    """Prompt of random letters, a separator, then the last three letters reversed and an end token."""
    prompt = torch.randint(LETTERS, (n, PROMPT))
    answer = prompt[:, -ANSWER:].flip(1)
    ids = torch.cat([prompt, torch.full((n, 1), SEP), answer, torch.full((n, 1), EOS)], dim=1)
    labels = ids.clone()
    labels[:, : PROMPT + 1] = IGNORE
    return TensorDataset(ids[:, :-1], labels[:, 1:])


class Block(nn.Module):
    def __init__(self, dim: int, heads: int):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.qkv, self.proj = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)
        self.mlp = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim))

    def forward(self, x: Tensor) -> Tensor:
        b, t, d = x.shape
        qkv = self.qkv(self.norm1(x)).view(b, t, 3, self.heads, d // self.heads)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)
        attended = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.proj(attended.transpose(1, 2).reshape(b, t, d))
        return x + self.mlp(self.norm2(x))


class TinyGPT(nn.Module):
    def __init__(self, dim: int = 48, layers: int = 2, heads: int = 4):
        super().__init__()
        self.token = nn.Embedding(VOCAB, dim)
        self.position = nn.Embedding(PROMPT + ANSWER + 1, dim)
        self.blocks = nn.Sequential(*(Block(dim, heads) for _ in range(layers)))
        self.norm = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, VOCAB, bias=False)
        nn.init.normal_(self.token.weight, std=0.1)
        nn.init.normal_(self.position.weight, std=0.1)
        self.head.weight = self.token.weight

    def forward(self, ids: Tensor) -> Tensor:
        x = self.token(ids) + self.position.weight[: ids.shape[1]]
        return self.head(self.norm(self.blocks(x)))


def loss_and_accuracy(model: nn.Module, ids: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    logits = model(ids)
    loss = F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=IGNORE)
    answer = labels != IGNORE
    return loss, (logits.argmax(-1) == labels)[answer].float().mean()


torch.set_num_threads(1)
torch.manual_seed(4)
train_set, val_set = make_dialogues(3200), make_dialogues(300)
loader = DataLoader(train_set, batch_size=64, shuffle=True)
epochs, warmup = 3, 15
total_steps = epochs * len(loader)
model = TinyGPT()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.01)
scheduler = torch.optim.lr_scheduler.LambdaLR(
    optimizer, lambda s: min((s + 1) / warmup, 0.5 * (1 + math.cos(math.pi * s / total_steps)))
)
for epoch in range(epochs):
    model.train()
    running = 0.0
    for ids, labels in loader:
        loss, _ = loss_and_accuracy(model, ids, labels)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        scheduler.step()
        running += loss.item()
    model.eval()
    with torch.no_grad():
        val_loss, val_acc = loss_and_accuracy(model, *val_set.tensors)
    print(f"epoch {epoch}  train {running / len(loader):.4f}  val {val_loss:.4f}  answer acc {val_acc:.3f}")
