"""Sleep stages of whole nights, a night per step in shuffled order: nearly all frames of a step share their label."""

import random

import torch
import torch.nn.functional as F
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(9)
random.seed(9)
STAGES, FRAMES, CHANNELS = 4, 60, 5
typical = 2 * torch.randn(STAGES, CHANNELS)


def night() -> tuple[torch.Tensor, torch.Tensor]:
    stages = torch.full((FRAMES,), random.randrange(STAGES))
    stages[random.randint(50, 58) :] = random.randrange(STAGES)
    return typical[stages] + torch.randn(FRAMES, CHANNELS), stages


class Stager(nn.Module):
    def __init__(self, width: int = 16) -> None:
        super().__init__()
        self.reader = nn.GRU(CHANNELS, width, batch_first=True, bidirectional=True)
        self.to_stages = nn.Linear(2 * width, STAGES)

    def forward(self, frames: torch.Tensor) -> torch.Tensor:
        return self.to_stages(self.reader(frames)[0])


nights, held_out = [night() for _ in range(90)], [night() for _ in range(20)]
model = Stager()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(2):
    random.shuffle(nights)
    model.train()
    for frames, stages in nights:
        loss = F.cross_entropy(model(frames.unsqueeze(0)).squeeze(0), stages)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        right = [(model(x.unsqueeze(0)).argmax(-1)[0] == y).float().mean().item() for x, y in held_out]
    print(f"epoch {epoch} loss {loss.item():.3f} frames right {sum(right) / len(right):.3f}")
