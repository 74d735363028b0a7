"""REINFORCE on Catch: move the paddle under the falling ball."""
import torch
from torch import nn
from torch.distributions import Categorical

WIDTH, HEIGHT = 9, 8


class Catch:
    """A batch of independent games."""

    def __init__(self, games):
        self.games = games

    def reset(self):
        self.ball = torch.randint(0, WIDTH, (self.games,))
        self.paddle = torch.randint(2, WIDTH - 2, (self.games,))
        self.drift = torch.randint(-1, 2, (self.games,))
        self.row = 0
        return self.observe()

    def observe(self):
        cols = [self.ball, self.paddle, self.ball - self.paddle]
        obs = torch.stack([c.float() / (WIDTH - 1) * 2 - 1 for c in cols[:2]] + [cols[2].float() / WIDTH], dim=1)
        extra = torch.stack([self.drift.float(), torch.full((self.games,), self.row / HEIGHT)], dim=1)
        return torch.cat([obs, extra], dim=1)

    def step(self, action):
        self.paddle = (self.paddle + action - 1).clamp(0, WIDTH - 1)
        if self.row % 3 == 2:
            self.ball = (self.ball + self.drift).clamp(0, WIDTH - 1)
        self.row += 1
        done = self.row == HEIGHT
        reward = torch.where(self.ball == self.paddle, 1.0, -1.0) if done else torch.zeros(self.games)
        return self.observe(), reward, done


policy = nn.Sequential(nn.Linear(5, 48), nn.Tanh(), nn.Linear(48, 3))


def play(env, greedy=False):
    obs, done = env.reset(), False
    log_probs, entropies, rewards = [], [], []
    while not done:
        dist = Categorical(logits=policy(obs))
        action = dist.probs.argmax(1) if greedy else dist.sample()
        log_probs.append(dist.log_prob(action))
        entropies.append(dist.entropy())
        obs, reward, done = env.step(action)
        rewards.append(reward)
    return torch.stack(log_probs), torch.stack(entropies), torch.stack(rewards)


def discounted(rewards, gamma=0.98):
    out, running = [], torch.zeros_like(rewards[0])
    for r in reversed(rewards):
        running = r + gamma * running
        out.insert(0, running)
    return torch.stack(out)


torch.manual_seed(33)
env, test_env = Catch(128), Catch(500)
optimizer = torch.optim.Adam(policy.parameters(), lr=5e-3)
for iteration in range(1, 151):
    log_probs, entropies, rewards = play(env)
    returns = discounted(rewards)
    advantage = returns - returns.mean(dim=1, keepdim=True)
    loss = (log_probs * advantage).mean() - 0.01 * entropies.mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if iteration % 25 == 0:
        with torch.no_grad():
            score = play(test_env, greedy=True)[2].sum(0).mean().item()
        print(f"iteration {iteration} loss {loss.item():+.4f} mean reward {rewards.sum(0).mean().item():+.3f} "
              f"greedy test reward {score:+.3f}")
