"""DQN on a corridor grid world."""
import random
from collections import deque

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


class Corridor:
    def __init__(self, n=12):
        self.n = n

    def reset(self):
        self.pos, self.t = 0, 0
        return self.obs()

    def obs(self):
        v = np.zeros(self.n, np.float32)
        v[self.pos] = 1
        return v

    def step(self, a):
        self.pos = min(self.n - 1, max(0, self.pos + (1 if a == 1 else -1)))
        self.t += 1
        done = self.pos == self.n - 1
        return self.obs(), (1.0 if done else -0.01), done, self.t >= 60


def net(n):
    return nn.Sequential(nn.Linear(n, 64), nn.ReLU(), nn.Linear(64, 2))


def main():
    random.seed(0)
    np.random.seed(0)
    torch.manual_seed(0)
    env = Corridor()
    policy, target = net(env.n), net(env.n)
    target.load_state_dict(policy.state_dict())
    opt = torch.optim.Adam(policy.parameters(), lr=2e-3)
    memory = deque(maxlen=5000)
    gamma, batch, sync_every = 0.95, 64, 100
    total_steps, lengths = 0, []
    for episode in range(70):
        s = env.reset()
        steps = 0
        eps = max(0.1, 1.0 - episode / 40)
        while True:
            if random.random() < eps:
                a = random.randrange(2)
            else:
                with torch.no_grad():
                    a = policy(torch.from_numpy(s)).argmax().item()
            s2, r, done, timeout = env.step(a)
            memory.append((s, a, r, s2, float(done)))
            s = s2
            steps += 1
            total_steps += 1
            if len(memory) >= batch:
                S, A, R, S2, D = [torch.tensor(np.array(c)) for c in zip(*random.sample(memory, batch))]
                q = policy(S).gather(1, A[:, None]).squeeze(1)
                with torch.no_grad():
                    y = R.float() + gamma * (1 - D.float()) * target(S2).max(1).values
                loss = F.smooth_l1_loss(q, y)
                opt.zero_grad()
                loss.backward()
                opt.step()
            if steps % sync_every == 0:
                target.load_state_dict(policy.state_dict())
            if done or timeout:
                break
        lengths.append(steps)
        if episode % 10 == 9:
            print(f"episode {episode + 1} eps {eps:.2f} mean length {np.mean(lengths[-10:]):.1f} loss {loss.item():.4f}")
    s, n = env.reset(), 0
    with torch.no_grad():
        v0 = policy(torch.from_numpy(s)).max().item()
    while True:
        with torch.no_grad():
            a = policy(torch.from_numpy(s)).argmax().item()
        s, r, done, timeout = env.step(a)
        n += 1
        if done or timeout:
            break
    print(f"greedy episode length {n} (optimal {env.n - 1}), value of the start {v0:.3f}")


if __name__ == "__main__":
    main()
