import copy
import random
from collections import deque

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
SEED = 3
random.seed(SEED)
np.random.seed(SEED)
torch.manual_seed(SEED)


class KeyDoor:
    """5x5 room: pick up the key in one corner, then open the door in the opposite one."""

    size, horizon, n_actions = 5, 50, 4
    moves = [(0, 1), (0, -1), (1, 0), (-1, 0)]

    def reset(self):
        self.y, self.x, self.key, self.t = random.randint(0, 4), random.randint(0, 4), 0, 0
        return self.obs()

    def obs(self):
        v = np.zeros(2 * self.size * self.size, dtype=np.float32)
        v[self.key * self.size * self.size + self.y * self.size + self.x] = 1.0
        return v

    def step(self, a):
        self.t += 1
        dy, dx = self.moves[a]
        self.y = min(max(self.y + dy, 0), self.size - 1)
        self.x = min(max(self.x + dx, 0), self.size - 1)
        if self.y == 0 and self.x == 0:
            self.key = 1
        done = self.key == 1 and self.y == self.size - 1 and self.x == self.size - 1
        reward = 1.0 if done else -0.01
        return self.obs(), reward, done, self.t >= self.horizon


class ReplayBuffer:
    def __init__(self, cap):
        self.buf = deque(maxlen=cap)

    def push(self, *tr):
        self.buf.append(tr)

    def sample(self, n):
        s, a, r, s2, d = zip(*random.sample(self.buf, n))
        return (torch.from_numpy(np.stack(s)), torch.tensor(a), torch.tensor(r, dtype=torch.float32),
                torch.from_numpy(np.stack(s2)), torch.tensor(d, dtype=torch.float32))


class DQNAgent:
    def __init__(self, obs_dim, n_actions, gamma=0.97, tau=0.05, lr=2e-3):
        self.q = nn.Sequential(nn.Linear(obs_dim, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, n_actions))
        self.q_target = copy.deepcopy(self.q)
        self.opt = torch.optim.Adam(self.q.parameters(), lr=lr)
        self.gamma, self.tau, self.n_actions = gamma, tau, n_actions

    def act(self, obs, eps):
        if random.random() < eps:
            return random.randrange(self.n_actions)
        with torch.no_grad():
            return self.q(torch.from_numpy(obs)).argmax().item()

    def learn(self, batch):
        s, a, r, s2, d = batch
        q = self.q(s).gather(1, a[:, None]).squeeze(1)
        with torch.no_grad():
            best = self.q(s2).argmax(1, keepdim=True)
            y = r + self.gamma * (1 - d) * self.q_target(s2).gather(1, best).squeeze(1)
        loss = F.smooth_l1_loss(q, y)
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        self.soft_update()
        return loss.item()

    def soft_update(self):
        with torch.no_grad():
            for p, tp in zip(self.q.parameters(), self.q_target.parameters()):
                tp.copy_(self.tau * tp + (1.0 - self.tau) * tp)


def evaluate(agent, n=20):
    env, wins, rets = KeyDoor(), 0, []
    for _ in range(n):
        o, ret = env.reset(), 0.0
        while True:
            o, r, done, trunc = env.step(agent.act(o, 0.0))
            ret += r
            if done or trunc:
                wins += done
                break
        rets.append(ret)
    return wins / n, float(np.mean(rets))


env = KeyDoor()
agent = DQNAgent(2 * env.size ** 2, env.n_actions)
memory = ReplayBuffer(5000)
losses, step = [], 0
for episode in range(1, 141):
    obs = env.reset()
    while True:
        eps = max(0.1, 1.0 - step / 2500)
        a = agent.act(obs, eps)
        nxt, r, done, trunc = env.step(a)
        memory.push(obs, a, r, nxt, float(done))
        obs = nxt
        step += 1
        if len(memory.buf) >= 200 and step % 3 == 0:
            losses.append(agent.learn(memory.sample(64)))
        if done or trunc:
            break
    if episode % 20 == 0:
        win, ret = evaluate(agent)
        print(f"episode {episode:4d} steps {step} td-loss {np.mean(losses[-200:]):.5f} greedy success {win:.2f} return {ret:.3f}")
