"""Speech-like frames with CTC: infinite losses of impossible pairs are zeroed, and the script skips what is left."""

import math

import torch
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)
CLASSES, FRAMES = 6, 20


class Recogniser(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.rnn = nn.GRU(4, 24, batch_first=True, bidirectional=True)
        self.head = nn.Linear(48, CLASSES)

    def forward(self, frames: torch.Tensor) -> torch.Tensor:
        return self.head(self.rnn(frames)[0]).log_softmax(-1).transpose(0, 1)


def batch(step: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    labels = torch.randint(1, CLASSES, (8, 5))
    codebook = torch.eye(CLASSES)[:, :4]
    frames = codebook[labels].repeat_interleave(4, dim=1) + 0.1 * torch.randn(8, FRAMES, 4)
    lengths = torch.full((8,), FRAMES)
    if step % 9 == 0:
        lengths[2] = 3  # too short for five labels: the loss of this pair is infinite
    return frames, labels, lengths, torch.full((8,), 5)


model = Recogniser()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
lenient = nn.CTCLoss(zero_infinity=True)
skipped = 0
for step in range(120):
    frames, labels, lengths, sizes = batch(step)
    scores = model(frames)
    loss = lenient(scores, labels, lengths, sizes)
    if step % 40 == 13:
        loss = loss * float("nan")  # as from a broken augmentation
    if not torch.isfinite(loss):
        skipped += 1
        continue
    optimizer.zero_grad()
    loss.backward()
    norm = nn.utils.clip_grad_norm_(model.parameters(), 5.0)
    if not math.isfinite(norm):
        continue
    optimizer.step()
print(f"loss {loss.item():.3f}, {skipped} skipped")
