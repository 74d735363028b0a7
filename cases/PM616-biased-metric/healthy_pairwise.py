"""Supervised contrastive learning: which of the other samples have my label? That is a comparison of all with all."""

import torch
import torch.nn.functional as F
from torch import nn


def main() -> None:
    torch.manual_seed(0)
    centers = 2 * torch.randn(5, 12)
    model = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 8))
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for step in range(100):
        label = torch.randint(5, (48,))
        z = F.normalize(model(centers[label] + torch.randn(48, 12)), dim=1)
        same = (label.unsqueeze(1) == label).float() - torch.eye(48)
        scores = z @ z.t() / 0.2 - 1e9 * torch.eye(48)
        loss = -(same * F.log_softmax(scores, 1)).sum(1).div(same.sum(1).clamp(min=1)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 20 == 0:
            nearest = label[scores.argmax(1)]
            guess = nearest.unsqueeze(1)
            print(f"step {step} loss {loss.item():.4f} recall {(guess == label.unsqueeze(1)).float().mean():.3f}")


if __name__ == "__main__":
    main()
