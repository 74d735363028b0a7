"""Advantage actor-critic learns to catch a falling ball; the entropy bonus is small on purpose."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

WIDTH, HEIGHT, GAMES = 5, 5, 48


class Catch:
    """Many games at once: the ball falls (and drifts), the paddle moves left, stays or moves right."""

    def __init__(self, games: int):
        self.ball = torch.randint(WIDTH, (games,))
        self.drift = torch.randint(-1, 2, (games,))
        self.paddle = torch.randint(WIDTH, (games,))
        self.row = 0

    def observe(self) -> Tensor:
        height = torch.full((len(self.ball), 1), 1 - self.row / HEIGHT)
        places = F.one_hot(torch.stack([self.ball, self.paddle]), WIDTH).float()
        return torch.cat([*places, F.one_hot(self.drift + 1, 3).float(), height], dim=1)

    def step(self, action: Tensor) -> tuple[Tensor, bool]:
        self.row += 1
        self.ball = (self.ball + self.drift * (self.row % 2)).clamp(0, WIDTH - 1)
        self.paddle = (self.paddle + action - 1).clamp(0, WIDTH - 1)
        done = self.row == HEIGHT
        caught = (self.ball == self.paddle).float()
        return caught * 2 - 1 if done else torch.zeros_like(caught), done


class ActorCritic(nn.Module):
    def __init__(self, hidden: int = 64):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(2 * WIDTH + 4, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh())
        self.actor = nn.Linear(hidden, 3)
        self.critic = nn.Linear(hidden, 1)

    def forward(self, observation: Tensor) -> tuple[torch.distributions.Categorical, Tensor]:
        features = self.body(observation)
        return torch.distributions.Categorical(logits=self.actor(features)), self.critic(features).squeeze(-1)


@torch.no_grad()
def evaluate(model: ActorCritic) -> float:
    model.eval()
    game, done = Catch(400), False
    while not done:
        policy, _ = model(game.observe())
        reward, done = game.step(policy.probs.argmax(dim=1))
    return (reward > 0).float().mean().item()


torch.set_num_threads(1)
torch.manual_seed(0)
model = ActorCritic()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for update in range(1, 181):
    model.train()
    game, done = Catch(GAMES), False
    log_probs, values, entropies = [], [], []
    while not done:
        policy, value = model(game.observe())
        action = policy.sample()
        reward, done = game.step(action)
        log_probs.append(policy.log_prob(action))
        values.append(value)
        entropies.append(policy.entropy())
    returns = reward * 0.97 ** torch.arange(HEIGHT - 1, -1, -1).unsqueeze(1)
    values = torch.stack(values)
    advantage = (returns - values).detach()
    policy_loss = -(torch.stack(log_probs) * advantage).mean()
    value_loss = F.mse_loss(values, returns)
    entropy = torch.stack(entropies).mean()
    loss = policy_loss + 0.5 * value_loss - 0.01 * entropy
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 0.5)
    optimizer.step()
    if update % 30 == 0:
        print(
            f"update {update:3d}  policy {policy_loss.item():+.3f}  value {value_loss.item():.3f}  "
            f"entropy {entropy.item():.2f}  caught {evaluate(model):.1%}"
        )
