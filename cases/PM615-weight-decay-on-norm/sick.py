"""Sort of weights for AdamW: no decay for biases and norms, by name."""

import torch
import torch.nn.functional as F
from torch import nn


class Mixer(nn.Module):
    def __init__(self, width: int = 32):
        super().__init__()
        self.inner = nn.Linear(12, width)
        self.rescale = nn.LayerNorm(width)
        self.outer = nn.Linear(width, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.outer(torch.relu(self.rescale(self.inner(x))))


def grouped(model: nn.Module, decay: float) -> list[dict]:
    spared = [p for name, p in model.named_parameters() if name.endswith("bias") or "norm" in name]
    others = [p for name, p in model.named_parameters() if not (name.endswith("bias") or "norm" in name)]
    return [{"params": others, "weight_decay": decay}, {"params": spared, "weight_decay": 0.0}]


def main() -> None:
    torch.manual_seed(0)
    model = Mixer()
    optimizer = torch.optim.AdamW(grouped(model, 0.1), lr=3e-3)  # <- PM615
    for step in range(120):
        x = torch.randn(64, 12)
        loss = F.cross_entropy(model(x), x[:, :3].argmax(1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 20 == 0:
            print(f"step {step} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
