"""Double DQN with replay and a periodically copied target on a one-dimensional parking task."""
import random
from collections import deque

import torch
import torch.nn as nn
import torch.nn.functional as F


class Parking:
    def reset(self):
        self.x, self.v, self.t = random.uniform(-1, 1), 0.0, 0
        return (self.x, self.v)

    def step(self, a):
        self.v = 0.9 * self.v + 0.1 * (a - 1)
        self.x += self.v
        self.t += 1
        done = self.t >= 25
        return (self.x, self.v), -abs(self.x) - 0.1 * abs(self.v), done


def make_q():
    return nn.Sequential(nn.Linear(2, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 3))


random.seed(0)
torch.manual_seed(0)
torch.set_num_threads(1)
q, target = make_q(), make_q()
target.load_state_dict(q.state_dict())
opt = torch.optim.Adam(q.parameters(), lr=1e-3)
memory = deque(maxlen=5000)
env, gamma, steps = Parking(), 0.95, 0
scores = []
for episode in range(120):
    s, done, total = env.reset(), False, 0.0
    eps = max(0.05, 1 - episode / 50)
    while not done:
        if random.random() < eps:
            a = random.randrange(3)
        else:
            with torch.no_grad():
                a = q(torch.tensor(s)).argmax().item()
        s2, r, done = env.step(a)
        memory.append((s, a, r, s2))
        s, total, steps = s2, total + r, steps + 1
        if len(memory) >= 300:
            ss, aa, rr, s2s = zip(*random.sample(memory, 64))
            ss, s2s = torch.tensor(ss), torch.tensor(s2s)
            aa, rr = torch.tensor(aa), torch.tensor(rr)
            with torch.no_grad():
                pick = q(s2s).argmax(1, keepdim=True)
                y = rr + gamma * target(s2s).gather(1, pick).squeeze(1)
            loss = F.smooth_l1_loss(q(ss).gather(1, aa[:, None]).squeeze(1), y)
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(q.parameters(), 10)
            opt.step()
        if steps % 150 == 0:
            target.load_state_dict(q.state_dict())
    scores.append(total)
    if episode % 20 == 19:
        print(f"episode {episode + 1}: mean return {sum(scores[-20:]) / 20:.2f}")
