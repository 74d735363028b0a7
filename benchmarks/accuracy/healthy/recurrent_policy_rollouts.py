"""Recurrent PPO: the state goes from rollout to rollout with its graph, but what is trained on starts from a detached copy."""

import torch
from torch import nn
from torch.distributions import Categorical

torch.set_num_threads(1)
torch.manual_seed(4)
CUES, WAIT, HORIZON = 3, 4, 10


class Memory:
    """A cue is shown once; some steps later the matching action is rewarded."""

    def reset(self):
        self.cue, self.t = int(torch.randint(CUES, ())), 0
        return self.observe()

    def observe(self):
        shown = torch.zeros(CUES + 1)
        shown[self.cue if self.t == 0 else CUES] = 1.0
        return shown

    def move(self, action):
        self.t += 1
        over = self.t > WAIT
        return self.observe(), float(over and action == self.cue), over


class Agent(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.inputs = nn.Linear(CUES + 1, width)
        self.lstm = nn.LSTM(width, width)
        self.actor, self.critic = nn.Linear(width, CUES), nn.Linear(width, 1)
        self.width = width

    def start(self):
        return torch.zeros(1, 1, self.width), torch.zeros(1, 1, self.width)

    def forward(self, observations, state):
        out, state = self.lstm(torch.relu(self.inputs(observations)).unsqueeze(1), state)
        return self.actor(out).squeeze(1), self.critic(out).squeeze(), state


agent, env = Agent(), Memory()
optimizer = torch.optim.Adam(agent.parameters(), lr=5e-3)
scores = []
for episode in range(150):
    observation, state, done, score = env.reset(), agent.start(), False, 0.0
    while not done:
        first, rollout = state, []
        for _ in range(3):
            logits, value, state = agent(observation[None], state)
            policy = Categorical(logits=logits[0])
            action = policy.sample()
            following, reward, done = env.move(int(action))
            rollout.append((observation, action, reward, policy.log_prob(action).item(), value.item()))
            observation, score = following, score + reward
            if done:
                break
        observations = torch.stack([row[0] for row in rollout])
        actions = torch.stack([row[1] for row in rollout])
        old = torch.tensor([row[3] for row in rollout])
        returns, running = [], 0.0 if done else agent(observation[None], state)[1].item()
        for row in reversed(rollout):
            running = row[2] + 0.95 * running
            returns.insert(0, running)
        returns = torch.tensor(returns)
        advantage = returns - torch.tensor([row[4] for row in rollout])
        beginning = tuple(part.detach() for part in first)
        for _ in range(3):
            logits, values, _ = agent(observations, beginning)
            ratio = (Categorical(logits=logits).log_prob(actions) - old).exp()
            surrogate = torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage)
            loss = (0.5 * (values.reshape(-1) - returns) ** 2 - surrogate).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    scores.append(score)
    if episode % 50 == 49:
        print(f"episode {episode + 1} reward {sum(scores[-50:]) / 50:.2f}")
