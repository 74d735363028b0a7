"""Policy gradient with a learnt baseline: a walker must reach the end of a corridor in few steps."""

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(0)
LENGTH, LIMIT, EPISODES, GAMMA = 6, 30, 150, 0.97


class Corridor:
    """Start at the left end; reward 1 at the right end, a small cost for each step."""

    def reset(self):
        self.place, self.steps = 0, 0
        return self.observe()

    def observe(self):
        return torch.nn.functional.one_hot(torch.tensor(self.place), LENGTH).float()

    def step(self, action):
        self.place = min(max(self.place + (1 if action == 1 else -1), 0), LENGTH - 1)
        self.steps += 1
        done = self.place == LENGTH - 1
        return self.observe(), 1.0 if done else -0.02, done or self.steps >= LIMIT


class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(LENGTH, 32), nn.Tanh())
        self.policy = nn.Linear(32, 2)
        self.value = nn.Linear(32, 1)

    def forward(self, state):
        h = self.body(state)
        return self.policy(h), self.value(h).squeeze(-1)


env = Corridor()
model = ActorCritic()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
lengths = []
for episode in range(EPISODES):
    state, done = env.reset(), False
    log_probs, values, rewards, entropies = [], [], [], []
    while not done:
        logits, value = model(state)
        policy = Categorical(logits=logits)
        action = policy.sample()
        state, reward, done = env.step(action.item())
        log_probs.append(policy.log_prob(action))
        values.append(value)
        rewards.append(reward)
        entropies.append(policy.entropy())

    returns, total = [], 0.0
    for reward in reversed(rewards):
        total = reward + GAMMA * total
        returns.insert(0, total)
    returns = torch.tensor(returns)
    values = torch.stack(values)
    advantage = returns - values.detach()
    policy_loss = -(torch.stack(log_probs) * advantage).mean()
    value_loss = nn.functional.mse_loss(values, returns)
    entropy = torch.stack(entropies).mean()
    loss = policy_loss + 0.5 * value_loss - 0.01 * entropy

    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    lengths.append(len(rewards))
    if episode % 50 == 49:
        print(f"episode {episode + 1}: mean length {sum(lengths[-50:]) / 50:.1f}")
