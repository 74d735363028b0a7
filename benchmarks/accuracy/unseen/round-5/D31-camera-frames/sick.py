import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(6)
torch.set_num_threads(1)


def render(n, seed):
    """Frames as a camera gives them: n x height x width x colour, bytes."""
    rng = np.random.default_rng(seed)
    frames = rng.integers(0, 150, (n, 20, 20, 3))
    kind = rng.integers(0, 4, n)
    for i in range(n):
        r, c = rng.integers(5, 15, 2)
        colour = rng.integers(90, 255, 3)
        for k in range(-4, 5):
            if kind[i] == 0:
                frames[i, r, c + k] = colour
            elif kind[i] == 1:
                frames[i, r + k, c] = colour
            elif kind[i] == 2:
                frames[i, r + k, c + k] = colour
            else:
                frames[i, r + k, c - k] = colour
    return frames.astype(np.uint8), kind


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(3, 12, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(12, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 16, 3, padding=1), nn.ReLU(),
        )
        self.action = nn.Linear(16, 4)

    def forward(self, frames):
        images = frames.float() / 255.0
        b, h, w, c = images.shape
        images = images.reshape(b, c, h, w)  # <- PM313
        return self.action(self.stem(images).amax(dim=(2, 3)))


train_frames, train_kind = (torch.from_numpy(a) for a in render(300, 6))
val_frames, val_kind = (torch.from_numpy(a) for a in render(400, 7))
policy = Policy()
optim = torch.optim.Adam(policy.parameters(), lr=4e-3)
for epoch in range(16):
    seen = []
    for rows in torch.randperm(len(train_frames)).split(25):
        loss = F.cross_entropy(policy(train_frames[rows]), train_kind[rows])
        optim.zero_grad()
        loss.backward()
        optim.step()
        seen.append(loss.item())
    with torch.no_grad():
        val = (policy(val_frames).argmax(1) == val_kind).float().mean().item()
    if epoch % 3 == 0:
        print(f"epoch {epoch} loss {np.mean(seen):.3f} val accuracy {val:.3f}")
