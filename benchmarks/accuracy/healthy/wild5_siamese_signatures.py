"""One network, called twice, and a contrastive loss on pairs of signatures: same hand or another?"""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

rng = np.random.default_rng(6)
torch.manual_seed(6)
torch.set_num_threads(1)
hands = 0.35 * rng.normal(size=(60, 3, 4))


def write(hand):
    t = np.linspace(0, 1, 40)
    waves = sum(hands[hand, :, i, None] * np.sin(2 * np.pi * (i + 1) * t + 0.2 * rng.normal()) for i in range(4))
    return (waves + 0.7 * rng.normal(size=waves.shape)).astype(np.float32)


def pairs(n, writers):
    same = rng.random(n) < 0.5
    left = rng.choice(writers, n)
    right = np.where(same, left, (left + rng.integers(1, len(writers), n) - writers[0]) % len(writers) + writers[0])
    a, b = np.stack([write(h) for h in left]), np.stack([write(h) for h in right])
    return torch.from_numpy(a), torch.from_numpy(b), torch.from_numpy((left == right).astype(np.float32))


net = nn.Sequential(
    nn.Conv1d(3, 16, 5, padding=2), nn.ReLU(), nn.AvgPool1d(2), nn.Conv1d(16, 24, 5, padding=2), nn.ReLU(),
    nn.AvgPool1d(2), nn.Flatten(), nn.Linear(240, 16),
)
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)


def contrastive(a, b, same, margin=2.0):
    distance = F.pairwise_distance(a, b)
    return (same * distance.pow(2) + (1 - same) * F.relu(margin - distance).pow(2)).mean()


def accuracy(writers):
    a, b, same = pairs(400, writers)
    with torch.no_grad():
        distance = F.pairwise_distance(net(a), net(b))
    return max(((distance < t).float() == same).float().mean().item() for t in np.linspace(0.1, 3, 30))


train, fresh = np.arange(0, 45), np.arange(45, 60)
print(f"before: pairs told apart {accuracy(fresh):.3f}")
for step in range(1, 181):
    a, b, same = pairs(48, train)
    loss = contrastive(net(a), net(b), same)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 60 == 0:
        print(f"step {step} loss {loss.item():.3f} pairs of new writers told apart {accuracy(fresh):.3f}")
