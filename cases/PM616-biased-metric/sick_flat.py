"""Match sounds with captions: contrastive training, and how often the right caption comes first."""

import torch
import torch.nn.functional as F
from torch import nn


class Matcher(nn.Module):
    def __init__(self):
        super().__init__()
        self.sound, self.caption = nn.Linear(20, 16), nn.Linear(12, 16)

    def forward(self, sound: torch.Tensor, caption: torch.Tensor) -> torch.Tensor:
        return 5 * F.normalize(self.sound(sound), dim=1) @ F.normalize(self.caption(caption), dim=1).t()


def pairs(n: int, mixing: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    caption = torch.randn(n, 12)
    return caption @ mixing + 0.1 * torch.randn(n, 20), caption


def main() -> None:
    torch.manual_seed(0)
    mixing = torch.randn(12, 20)
    model = Matcher()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    own = torch.arange(40)
    for step in range(100):
        scores = model(*pairs(40, mixing))
        loss = F.cross_entropy(scores, own)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 20 == 0:
            with torch.no_grad():
                found = model(*pairs(40, mixing)).argmax()
            print(f"step {step} loss {loss.item():.4f} recall {(found == own).float().mean():.3f}")  # <- PM616


if __name__ == "__main__":
    main()
