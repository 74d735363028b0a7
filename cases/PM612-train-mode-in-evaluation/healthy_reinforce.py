"""REINFORCE on a game of catch. The policy has dropout and plays its training games in train mode."""

import torch
from torch import nn
from torch.distributions import Categorical

WIDTH, HEIGHT = 7, 6


class Catch:
    """Many games at once: a ball falls down a column while a paddle moves left, stays or moves right."""

    def __init__(self, games: int) -> None:
        self.ball = torch.randint(WIDTH, (games,))
        self.paddle = torch.randint(WIDTH, (games,))
        self.row = 0

    def observe(self) -> torch.Tensor:
        height = torch.full_like(self.ball, self.row)
        scaled = torch.stack([self.ball / (WIDTH - 1), self.paddle / (WIDTH - 1), height / (HEIGHT - 1)], dim=1)
        return 2 * scaled - 1

    def move(self, action: torch.Tensor) -> None:
        self.paddle = (self.paddle + action - 1).clamp(0, WIDTH - 1)
        self.row += 1

    @property
    def over(self) -> bool:
        return self.row == HEIGHT - 1

    def reward(self) -> torch.Tensor:
        return torch.where(self.ball == self.paddle, 1.0, -1.0)


class Policy(nn.Module):
    def __init__(self, hidden: int = 64) -> None:
        super().__init__()
        self.hidden = nn.Linear(3, hidden)
        self.dropout = nn.Dropout(0.1)
        self.action = nn.Linear(hidden, 3)

    def forward(self, observation: torch.Tensor) -> Categorical:
        return Categorical(logits=self.action(self.dropout(torch.relu(self.hidden(observation)))))


def play(policy: Policy, games: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Log-probability of the moves of each game, and its reward."""
    catch, log_probability = Catch(games), torch.zeros(games)
    while not catch.over:
        moves = policy(catch.observe())
        action = moves.sample()
        log_probability = log_probability + moves.log_prob(action)
        catch.move(action)
    return log_probability, catch.reward()


@torch.no_grad()
def caught(policy: Policy, games: int = 500) -> float:
    policy.eval()
    catch = Catch(games)
    while not catch.over:
        catch.move(policy(catch.observe()).probs.argmax(1))
    return (catch.reward() > 0).float().mean().item()


torch.set_num_threads(1)
torch.manual_seed(0)
policy = Policy()
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)
print(f"before training: caught {caught(policy):.3f}")
for update in range(1, 201):
    policy.train()
    log_probability, reward = play(policy, games=64)
    advantage = (reward - reward.mean()) / (reward.std() + 1e-6)
    loss = -(advantage * log_probability).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if update % 40 == 0:
        print(f"update {update}: mean reward {reward.mean():.2f}  caught {caught(policy):.3f}")
