"""Q-learning on a ring of states, with a target network that should be refreshed now and then."""

import copy

import torch
import torch.nn.functional as F
from torch import nn

STATES, GAMMA = 8, 0.8


class Agent:
    def __init__(self):
        self.online = nn.Sequential(nn.Linear(STATES, 32), nn.ReLU(), nn.Linear(32, 2))
        self.target = copy.deepcopy(self.online)
        self.optimizer = torch.optim.Adam(self.online.parameters(), lr=3e-3)

    def learn(self, state: torch.Tensor) -> float:
        action = torch.randint(2, state.shape)
        following = (state + 2 * action - 1) % STATES
        reward = (following == 0).float()
        q = self.online(F.one_hot(state, STATES).float()).gather(1, action[:, None]).squeeze(1)
        with torch.no_grad():
            ahead = self.target(F.one_hot(following, STATES).float()).amax(1)
        loss = F.mse_loss(q, reward + GAMMA * ahead)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def refresh(self) -> None:
        self.target.load_state_dict(self.online.state_dict())


def main() -> None:
    torch.manual_seed(0)
    agent = Agent()
    for step in range(200):
        loss = agent.learn(torch.randint(STATES, (64,)))
        if step % 20 == 19:
            agent.refresh()
            print(f"step {step} loss {loss:.4f}")


if __name__ == "__main__":
    main()
