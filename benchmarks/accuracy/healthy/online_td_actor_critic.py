"""One-step actor-critic, one transition at a time, scalars all the way (Sutton & Barto, 13.5)."""

import math

import torch
from torch import nn
from torch.distributions import Categorical

torch.set_num_threads(1)
torch.manual_seed(1)


class Ring:
    """A ring of 9 cells; the goal is cell 0, the shorter way round is better."""

    n = 9

    def reset(self):
        self.at, self.t = int(torch.randint(1, self.n, ())), 0
        return self.observe()

    def observe(self):
        angle = 2 * math.pi * self.at / self.n
        return torch.tensor([math.cos(angle), math.sin(angle)])

    def move(self, action):
        self.at = (self.at + (1 if action else -1)) % self.n
        self.t += 1
        return self.observe(), -0.1 if self.at else 1.0, self.at == 0 or self.t > 30


actor = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 2))
critic = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 1))
actor_opt = torch.optim.Adam(actor.parameters(), lr=3e-3)
critic_opt = torch.optim.Adam(critic.parameters(), lr=1e-2)
gamma, scores = 0.95, []
env = Ring()

for episode in range(160):
    observation, done, score, discount = env.reset(), False, 0.0, 1.0
    while not done:
        policy = Categorical(logits=actor(observation))
        action = policy.sample()
        next_observation, reward, done = env.move(action.item())
        score += reward

        value = critic(observation).squeeze()
        next_value = torch.zeros(()) if done else critic(next_observation).squeeze().detach()
        td_error = reward + gamma * next_value - value

        critic_opt.zero_grad()
        td_error.pow(2).backward()
        critic_opt.step()

        actor_opt.zero_grad()
        (-discount * td_error.detach() * policy.log_prob(action)).backward()
        actor_opt.step()

        discount *= gamma
        observation = next_observation
    scores.append(score)
    if episode % 20 == 19:
        print(f"episode {episode + 1}: score {sum(scores[-20:]) / 20:.6f} td {td_error.item()!r}")

assert sum(scores[-30:]) / 30 > 0.6, sum(scores[-30:]) / 30
