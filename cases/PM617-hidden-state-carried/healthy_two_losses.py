"""Two losses on the same features, each back-propagated by itself through the graph that they share."""

import torch
import torch.nn.functional as F
from torch import nn


def main() -> None:
    torch.manual_seed(0)
    body = nn.GRU(4, 16, batch_first=True)
    first, second = nn.Linear(16, 2), nn.Linear(16, 1)
    optimizer = torch.optim.Adam([*body.parameters(), *first.parameters(), *second.parameters()], lr=5e-3)
    for step in range(80):
        x = torch.randn(32, 6, 4)
        features = body(x)[0][:, -1]
        optimizer.zero_grad()
        F.cross_entropy(first(features), (x[:, :, 0].sum(1) > 0).long()).backward(retain_graph=True)
        loss = F.mse_loss(second(features).squeeze(1), x[:, :, 1].mean(1))
        loss.backward()
        optimizer.step()
        if step % 20 == 0:
            print(f"step {step} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
