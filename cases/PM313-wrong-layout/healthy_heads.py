"""Attention by hand on image patches: patches are cut, heads split and merged with views that keep all in place."""

import torch
import torch.nn.functional as F
from torch import nn


class PatchAttention(nn.Module):
    def __init__(self, width: int = 24, heads: int = 4):
        super().__init__()
        self.heads = heads
        self.embed = nn.Linear(16, width)
        self.place = nn.Parameter(0.3 * torch.randn(16, width))
        self.qkv = nn.Linear(width, 3 * width)
        self.head = nn.Linear(width, 4)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        n = len(images)
        patches = images.view(n, 4, 4, 4, 4).permute(0, 1, 3, 2, 4).reshape(n, 16, 16)
        x = self.embed(patches) + self.place
        q, k, v = self.qkv(x).view(n, 16, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(n, 16, -1)
        return self.head((x + mixed).view(n, 16, -1).mean(1))


def main() -> None:
    torch.manual_seed(0)
    model = PatchAttention()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for step in range(120):
        label = torch.randint(4, (48,))
        images = 0.5 * torch.randn(48, 16, 16)
        for image, quarter in zip(images, label.tolist(), strict=True):
            image[8 * (quarter // 2) :, 8 * (quarter % 2) :][:8, :8] += torch.eye(8)
        loss = F.cross_entropy(model(images), label)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 20 == 0:
            print(f"step {step} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
