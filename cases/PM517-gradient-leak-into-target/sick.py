"""Q-learning on a ring of states, without a separate target network."""

import torch
import torch.nn.functional as F
from torch import nn

STATES, GAMMA = 8, 0.8


def main() -> None:
    torch.manual_seed(0)
    q = nn.Sequential(nn.Linear(STATES, 32), nn.ReLU(), nn.Linear(32, 2))
    optimizer = torch.optim.Adam(q.parameters(), lr=3e-3)
    for step in range(200):
        state, action = torch.randint(STATES, (64,)), torch.randint(2, (64,))
        following = (state + 2 * action - 1) % STATES
        chosen = q(F.one_hot(state, STATES).float()).gather(1, action[:, None]).squeeze(1)
        ahead = q(F.one_hot(following, STATES).float()).amax(1)
        loss = F.mse_loss(chosen, (following == 0).float() + GAMMA * ahead)  # <- PM517
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 25 == 0:
            print(f"step {step} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
