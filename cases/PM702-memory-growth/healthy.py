"""Learn a drifting stream with rehearsal: recent batches are kept and replayed, up to a limit."""

import random
from collections import deque

import torch
import torch.nn.functional as F
from torch import Tensor, nn

CLASSES, CHANNELS, SIZE, STEPS = 4, 3, 16, 160


class Stream:
    """Coloured blobs whose colours (one per class) turn slowly with time."""

    def __init__(self) -> None:
        axis = torch.linspace(-1, 1, SIZE)
        self.blob = torch.exp(-4 * (axis[:, None] ** 2 + axis[None, :] ** 2))

    def draw(self, n: int, time: float) -> tuple[Tensor, Tensor]:
        label = torch.randint(CLASSES, (n,))
        hue = 2 * torch.pi * label / CLASSES + 1.2 * time
        phases = 2 * torch.pi * torch.arange(CHANNELS) / CHANNELS
        colour = torch.cos(hue[:, None] + phases)
        images = colour[:, :, None, None] * self.blob + 0.8 * torch.randn(n, CHANNELS, SIZE, SIZE)
        return images, label


class Rehearsal:
    def __init__(self, batches: int):
        self.memory: deque[tuple[Tensor, Tensor]] = deque(maxlen=batches)

    def add(self, images: Tensor, labels: Tensor) -> None:
        self.memory.append((images.clone(), labels.clone()))

    def mix(self, images: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
        if not self.memory:
            return images, labels
        old_images, old_labels = random.choice(self.memory)
        half = torch.randperm(len(old_labels))[: len(labels) // 2]
        return torch.cat([images, old_images[half]]), torch.cat([labels, old_labels[half]])


@torch.no_grad()
def accuracy(model: nn.Module, images: Tensor, labels: Tensor) -> float:
    model.eval()
    return (model(images).argmax(dim=1) == labels).float().mean().item()


torch.set_num_threads(1)
torch.manual_seed(0)
random.seed(0)
stream, rehearsal = Stream(), Rehearsal(batches=40)
model = nn.Sequential(
    nn.Conv2d(CHANNELS, 12, 5, stride=2, padding=2),
    nn.ReLU(),
    nn.Conv2d(12, 24, 3, stride=2, padding=1),
    nn.ReLU(),
    nn.Flatten(),
    nn.Linear(24 * 16, CLASSES),
)
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
history: deque[float] = deque(maxlen=20)
for step in range(1, STEPS + 1):
    model.train()
    time = step / STEPS
    fresh = stream.draw(192, time)
    images, labels = rehearsal.mix(*fresh)
    loss = F.cross_entropy(model(images), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    rehearsal.add(*fresh)
    history.append(loss.item())
    if step % 20 == 0:
        now, before = stream.draw(200, time), stream.draw(200, max(0.0, time - 0.2))
        print(
            f"step {step:3d}  loss {sum(history) / len(history):.3f}  accuracy now {accuracy(model, *now):.3f}, "
            f"a while ago {accuracy(model, *before):.3f}  batches kept {len(rehearsal.memory)}"
        )
