"""Adapt a digit transformer to mirrored images with LoRA: everything frozen, then the adapters switched on again."""

import math

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn


class LoRALinear(nn.Module):
    def __init__(self, base: nn.Linear, rank: int = 4, scale: float = 2.0) -> None:
        super().__init__()
        self.base = base
        self.scale = scale
        self.lora_a = nn.Parameter(torch.randn(rank, base.in_features) / math.sqrt(base.in_features))
        self.lora_b = nn.Parameter(torch.zeros(base.out_features, rank))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.base(x) + self.scale * F.linear(F.linear(x, self.lora_a), self.lora_b)


class RowTransformer(nn.Module):
    """Reads an 8x8 digit as a sequence of eight rows."""

    def __init__(self, width: int = 48) -> None:
        super().__init__()
        self.embed = nn.Linear(8, width)
        self.positions = nn.Parameter(0.02 * torch.randn(8, width))
        self.norm1 = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.norm2 = nn.LayerNorm(width)
        self.up = nn.Linear(width, 2 * width)
        self.down = nn.Linear(2 * width, width)
        self.norm3 = nn.LayerNorm(width)
        self.head = nn.Linear(8 * width, 10)

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        x = self.embed(rows) + self.positions
        query, key, value = self.qkv(self.norm1(x)).chunk(3, dim=-1)
        x = x + F.scaled_dot_product_attention(query, key, value)
        x = x + self.down(F.gelu(self.up(self.norm2(x))))
        return self.head(self.norm3(x).flatten(1))


def add_lora(model: RowTransformer) -> None:
    model.requires_grad_(False)
    for name in ("embed", "qkv", "up", "head"):
        setattr(model, name, LoRALinear(getattr(model, name)))
    for name, parameter in model.named_parameters():
        parameter.requires_grad = "lora_" in name


@torch.no_grad()
def accuracy(model: RowTransformer, x: torch.Tensor, y: torch.Tensor) -> float:
    model.eval()
    return (model(x).argmax(dim=1) == y).float().mean().item()


def fit(model: RowTransformer, x: torch.Tensor, y: torch.Tensor, epochs: int, lr: float) -> None:
    optimizer = torch.optim.AdamW((p for p in model.parameters() if p.requires_grad), lr=lr)
    for epoch in range(epochs):
        model.train()
        total = 0.0
        for indices in torch.randperm(len(x)).split(64):
            with torch.autocast("cpu", dtype=torch.bfloat16):
                logits = model(x[indices])
            loss = F.cross_entropy(logits.float(), y[indices])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(indices)
        print(f"  epoch {epoch}: loss {total / len(x):.3f}")


def main() -> None:
    torch.manual_seed(0)
    torch.set_num_threads(1)
    digits = load_digits()
    images = torch.tensor(digits.images, dtype=torch.float32) / 8.0 - 1.0
    labels = torch.tensor(digits.target)
    train, valid = train_test_split(range(len(labels)), test_size=0.2, random_state=0, stratify=digits.target)

    model = RowTransformer()
    fit(model, images[train], labels[train], epochs=6, lr=3e-3)
    print(f"upright: {accuracy(model, images[valid], labels[valid]):.3f}")

    mirrored = images.flip(2)
    print(f"mirrored before LoRA: {accuracy(model, mirrored[valid], labels[valid]):.3f}")
    add_lora(model)
    count = sum(p.numel() for p in model.parameters() if p.requires_grad)
    print(f"training {count} of {sum(p.numel() for p in model.parameters())} parameters")
    fit(model, mirrored[train], labels[train], epochs=6, lr=5e-3)
    print(f"mirrored after LoRA: {accuracy(model, mirrored[valid], labels[valid]):.3f}")


if __name__ == "__main__":
    main()
