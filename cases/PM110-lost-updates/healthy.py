"""LoRA on a frozen bfloat16 text model: the adapters and their updates stay in float32."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

VOCAB, DIM, LENGTH = 24, 64, 16


class LoRALinear(nn.Module):
    def __init__(self, base: nn.Linear, rank: int = 8, alpha: float = 16.0):
        super().__init__()
        self.base = base
        self.down = nn.Parameter(torch.randn(rank, base.in_features) / math.sqrt(base.in_features))
        self.up = nn.Parameter(torch.zeros(base.out_features, rank))
        self.scale = alpha / rank

    def forward(self, x: Tensor) -> Tensor:
        delta = F.linear(F.linear(x.float(), self.down), self.up)
        return self.base(x) + (self.scale * delta).to(x.dtype)


class TextModel(nn.Module):
    """Next-token model: embeddings, a causal convolution, and a residual block."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(VOCAB, DIM)
        self.context = nn.Conv1d(DIM, DIM, kernel_size=3)
        self.fc1 = nn.Linear(DIM, 2 * DIM)
        self.fc2 = nn.Linear(2 * DIM, DIM)
        self.head = nn.Linear(DIM, VOCAB)

    def forward(self, tokens: Tensor) -> Tensor:
        x = F.pad(self.embedding(tokens).transpose(1, 2), (2, 0))
        x = F.gelu(self.context(x)).transpose(1, 2)
        return self.head(x + self.fc2(F.gelu(self.fc1(x)))).float()


def make_text(stride: int) -> tuple[Tensor, Tensor]:
    """Sequences in which every token is the sum of the previous two plus a stride, for training and validation."""
    starts = torch.cartesian_prod(torch.arange(VOCAB), torch.arange(VOCAB))[torch.randperm(VOCAB**2)]
    tokens = list(starts.unbind(dim=1))
    for _ in range(LENGTH - 2):
        tokens.append((tokens[-1] + tokens[-2] + stride) % VOCAB)
    return torch.stack(tokens, dim=1).split([VOCAB**2 - 96, 96])


def language_loss(model: nn.Module, tokens: Tensor) -> Tensor:
    logits = model(tokens[:, :-1])[:, 1:]
    return F.cross_entropy(logits.reshape(-1, VOCAB), tokens[:, 2:].reshape(-1))


def fit(model: nn.Module, stride: int, lr: float, steps: int) -> None:
    trainable = [p for p in model.parameters() if p.requires_grad]
    print(f"{sum(p.numel() for p in trainable)} trainable values, {trainable[0].dtype}")
    optimizer = torch.optim.AdamW(trainable, lr=lr)
    train, validation = make_text(stride)
    for step in range(1, steps + 1):
        model.train()
        loss = language_loss(model, train[torch.randint(len(train), (32,))])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 50 == 0:
            model.eval()
            with torch.no_grad():
                print(f"step {step:3d}  loss {loss.item():.3f}  val loss {language_loss(model, validation).item():.3f}")


torch.set_num_threads(1)
torch.manual_seed(0)
model = TextModel()
print("pre-training in float32")
fit(model, stride=0, lr=5e-3, steps=100)

model.to(torch.bfloat16).requires_grad_(False)
for name in ("fc1", "fc2", "head"):
    setattr(model, name, LoRALinear(getattr(model, name)))
print("adapting to another language")
fit(model, stride=5, lr=1e-2, steps=200)
