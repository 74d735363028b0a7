"""LoRA by hand: the base is frozen, B starts at zero, only the adapter is saved and loaded again."""

import math

import torch
from torch import nn
from torch.nn import functional as F


class LoRALinear(nn.Module):
    def __init__(self, base: nn.Linear, rank: int = 4, alpha: float = 8.0):
        super().__init__()
        self.base = base
        self.lora_a = nn.Parameter(torch.empty(rank, base.in_features))
        self.lora_b = nn.Parameter(torch.zeros(base.out_features, rank))
        nn.init.kaiming_uniform_(self.lora_a, a=math.sqrt(5))
        self.scaling = alpha / rank
        base.requires_grad_(False)

    def forward(self, x):
        return self.base(x) + (x @ self.lora_a.T @ self.lora_b.T) * self.scaling


def inject(module: nn.Module) -> None:
    for name, child in module.named_children():
        if isinstance(child, nn.Linear):
            setattr(module, name, LoRALinear(child))
        else:
            inject(child)


def build():
    return nn.Sequential(nn.Linear(16, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 3))


def sample(n, w):
    x = torch.randn(n, 16)
    return x, (x @ w).argmax(1)


def train(model, w, steps, lr):
    trainable = [p for p in model.parameters() if p.requires_grad]
    print("trainable", sum(p.numel() for p in trainable), "of", sum(p.numel() for p in model.parameters()))
    optimizer = torch.optim.AdamW(trainable, lr=lr, weight_decay=0.0)
    for step in range(steps):
        x, y = sample(64, w)
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 40 == 0:
            print(" ", step, loss.item())


torch.set_num_threads(1)
torch.manual_seed(0)
old, new = torch.randn(16, 3), torch.randn(16, 3)
new = 0.6 * old + 0.8 * new
model = build()
train(model, old, 160, 2e-3)
torch.save(model.state_dict(), "base.pt")
inject(model)
train(model, new, 160, 5e-3)
adapter = {k: v for k, v in model.state_dict().items() if "lora_" in k}
torch.save(adapter, "adapter.pt")

# a fresh process would do this
restored = build()
restored.load_state_dict(torch.load("base.pt", weights_only=True))
inject(restored)
missing, unexpected = restored.load_state_dict(torch.load("adapter.pt", weights_only=True), strict=False)
assert not unexpected and all("base" in k for k in missing)
x, y = sample(1000, new)
restored.eval()
with torch.no_grad():
    accuracy = (restored(x).argmax(1) == y).float().mean().item()
print("accuracy", accuracy)
assert accuracy > 0.85
