"""DQN with target network and replay on a 7x7 grid with walls and random starts."""
import random
from collections import deque

import numpy as np
import torch
from torch import nn

N = 7
WALLS = {(1, 1), (1, 2), (1, 3), (3, 3), (3, 4), (3, 5), (5, 1), (5, 2), (4, 5)}
GOAL = (6, 6)
MOVES = [(-1, 0), (1, 0), (0, -1), (0, 1)]


class GridWorld:
    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.free = [(r, c) for r in range(N) for c in range(N) if (r, c) not in WALLS and (r, c) != GOAL]

    def reset(self):
        self.pos, self.t = self.rng.choice(self.free), 0
        return self.obs()

    def obs(self):
        v = np.zeros(2 * N, np.float32)
        v[self.pos[0]] = 1
        v[N + self.pos[1]] = 1
        return v

    def step(self, a):
        r, c = self.pos[0] + MOVES[a][0], self.pos[1] + MOVES[a][1]
        if 0 <= r < N and 0 <= c < N and (r, c) not in WALLS:
            self.pos = (r, c)
        self.t += 1
        done = self.pos == GOAL
        return self.obs(), (1.0 if done else -0.02), done, self.t >= 40


class Agent:
    def __init__(self, gamma=0.95, lr=1e-3):
        def net():
            return nn.Sequential(nn.Linear(2 * N, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 4))
        self.q, self.target = net(), net()
        self.target.load_state_dict(self.q.state_dict())
        self.opt = torch.optim.Adam(self.q.parameters(), lr=lr)
        self.gamma = gamma
        self.memory = deque(maxlen=8000)

    @torch.no_grad()
    def act(self, s, eps):
        if random.random() < eps:
            return random.randrange(4)
        return int(self.q(torch.from_numpy(s)).argmax())

    def learn(self, batch_size=64):
        s, a, r, s2, d = zip(*random.sample(self.memory, batch_size))
        s, s2 = torch.from_numpy(np.stack(s)), torch.from_numpy(np.stack(s2))
        a = torch.tensor(a).unsqueeze(1)
        r, d = torch.tensor(r), torch.tensor(d, dtype=torch.float32)
        q_sa = self.q(s).gather(1, a).squeeze(1)
        with torch.no_grad():
            q_next = self.target(s2).max(1).values
            y = r + self.gamma * (1 - d) * q_next
        td = y - q_sa
        loss = td.pow(2).mean()
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        return loss.item()


def evaluate(agent, episodes=60):
    env, solved, ret = GridWorld(999), 0, 0.0
    for _ in range(episodes):
        s, done, cut = env.reset(), False, False
        while not (done or cut):
            s, r, done, cut = env.step(agent.act(s, 0.0))
            ret += r
        solved += done
    return solved / episodes, ret / episodes


def main():
    random.seed(0), np.random.seed(0), torch.manual_seed(0)
    env, agent, losses = GridWorld(1), Agent(), []
    s = env.reset()
    for step in range(1, 6001):
        eps = max(0.1, 1.0 - step / 3000)
        a = agent.act(s, eps)
        s2, r, done, cut = env.step(a)
        agent.memory.append((s, a, r, s2, done))
        s = env.reset() if done or cut else s2
        if step > 500 and step % 2 == 0:
            losses.append(agent.learn())
        if step % 200 == 0:
            agent.target.load_state_dict(agent.q.state_dict())
        if step % 1000 == 0:
            rate, ret = evaluate(agent)
            print(f"step {step}  td loss {np.mean(losses[-200:]):.4f}  success {rate:.2f}  return {ret:.3f}")


if __name__ == "__main__":
    main()
