"""Learn the value of moves on a line from stored ones: what gather() leaves has one axis more than the target."""

import torch
from torch import nn

CELLS = 8


def moves(count: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    cell, right = torch.randint(1, CELLS - 1, (count,)), torch.randint(0, 2, (count,))
    following = cell + 2 * right - 1
    return torch.eye(CELLS)[cell], right, torch.eye(CELLS)[following], (following == CELLS - 1).float()


torch.set_num_threads(1)
torch.manual_seed(0)
values = nn.Sequential(nn.Linear(CELLS, 32), nn.ReLU(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(values.parameters(), lr=2e-3)
for step in range(1, 101):
    state, action, following, reward = moves(32)
    predicted = values(state).gather(1, action.unsqueeze(1))  # <- PM501
    with torch.no_grad():
        best = values(following).max(dim=1).values
        target = reward + 0.9 * (1 - reward) * best

    loss = (predicted - target).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 25 == 0:
        print(f"step {step}: loss {loss.item():.4f}")
