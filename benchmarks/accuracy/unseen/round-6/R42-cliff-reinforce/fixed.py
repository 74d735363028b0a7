import numpy as np
import torch
import torch.nn as nn
import torch.optim as optim


class Corridor:
    def __init__(self, n=8):
        self.n = n

    def reset(self):
        self.s, self.t = 3, 0
        return self._obs()

    def _obs(self):
        v = np.zeros(self.n, dtype=np.float32)
        v[self.s] = 1
        return v

    def step(self, a):
        self.t += 1
        self.s += 1 if a == 1 else -1
        if self.s <= 0:
            return self._obs() * 0, -1.0, True
        if self.s >= self.n - 1:
            return self._obs() * 0, 1.0, True
        return self._obs(), -0.02, self.t >= 40


class Policy(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.l1 = nn.Linear(n, 32)
        self.l2 = nn.Linear(32, 2)

    def forward(self, s):
        return torch.softmax(self.l2(torch.relu(self.l1(s))), dim=-1)


class Agent:
    def __init__(self, n, gamma=0.6, lr=5e-3):
        self.policy = Policy(n)
        self.opt = optim.Adam(self.policy.parameters(), lr=lr)
        self.gamma = gamma
        self.log_probs, self.rewards = [], []

    def act(self, s):
        dist = torch.distributions.Categorical(self.policy(torch.from_numpy(s)))
        a = dist.sample()
        self.log_probs.append(dist.log_prob(a))
        return a.item()

    def learn(self, episodes):
        pairs = []
        for log_probs, rewards in episodes:
            G, returns = 0.0, []
            for r in rewards[::-1]:
                G = r + self.gamma * G
                returns.insert(0, G)
            pairs.extend(zip(log_probs, returns))
        R = torch.tensor([g for _, g in pairs])
        loss = -(torch.stack([lp for lp, _ in pairs]) * (R - R.mean())).mean()
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()


def play(env, agent):
    agent.log_probs, agent.rewards = [], []
    s, done, total = env.reset(), False, 0.0
    while not done:
        s, r, done = env.step(agent.act(s))
        agent.rewards.append(r)
        total += r
    return total, len(agent.rewards), (agent.log_probs, agent.rewards)


if __name__ == "__main__":
    torch.manual_seed(4)
    torch.set_num_threads(1)
    env = Corridor()
    agent = Agent(env.n)
    for it in range(120):
        games = [play(env, agent) for _ in range(8)]
        agent.learn([g[2] for g in games])
        if it % 20 == 19:
            print(f"iteration {it + 1}: mean return {np.mean([g[0] for g in games]):.2f}, length {np.mean([g[1] for g in games]):.1f}")
