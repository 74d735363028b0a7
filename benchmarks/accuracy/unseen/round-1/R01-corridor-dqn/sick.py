import random
from collections import deque
import torch
import torch.nn as nn

random.seed(0)
torch.manual_seed(0)
torch.set_num_threads(1)


class Corridor:
    """walk to the goal cell (right end); left end is a trap"""
    N = 8

    def reset(self):
        self.s, self.t = random.randint(2, self.N - 3), 0
        return self.obs()

    def obs(self):
        v = torch.zeros(self.N)
        v[self.s] = 1
        return v

    def step(self, a):
        self.t += 1
        self.s += 1 if a == 1 else -1
        if self.s == self.N - 1:
            return self.obs(), 1.0, True
        if self.s == 0:
            return self.obs(), -1.0, True
        return self.obs(), -0.02, self.t >= 25


q = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 2))
q_target = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 2))
q_target.load_state_dict(q.state_dict())
opt = torch.optim.Adam(q.parameters(), lr=2e-3)
memory = deque(maxlen=3000)
env, gamma, steps = Corridor(), 0.95, 0


def learn():
    batch = random.sample(memory, 32)
    s, a, r, s2, d = zip(*batch)
    s, s2 = torch.stack(s), torch.stack(s2)
    a = torch.tensor(a).unsqueeze(1)
    r, d = torch.tensor(r), torch.tensor(d, dtype=torch.float32)
    q_sa = q(s).gather(1, a)  # <- PM501
    with torch.no_grad():
        y = r + gamma * (1 - d) * q_target(s2).max(1).values
    loss = (q_sa - y).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    return loss.item()


scores = []
for ep in range(160):
    s, done, ret = env.reset(), False, 0.0
    eps = max(0.1, 1 - ep / 80)
    while not done:
        a = random.randint(0, 1) if random.random() < eps else q(s).argmax().item()
        s2, r, done = env.step(a)
        memory.append((s, a, r, s2, done))
        s, ret, steps = s2, ret + r, steps + 1
        if len(memory) > 100:
            last = learn()
        if steps % 50 == 0:
            q_target.load_state_dict(q.state_dict())
    scores.append(ret)
    if ep % 40 == 39:
        print(f"episode {ep + 1} mean return {sum(scores[-40:]) / 40:.2f} loss {last:.4f}")
with torch.no_grad():
    greedy = q(torch.eye(8)[1:7]).argmax(1)
print("greedy policy", greedy.tolist(), "share right", greedy.float().mean().item())
