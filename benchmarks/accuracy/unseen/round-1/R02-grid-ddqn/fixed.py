import copy
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(1)
np.random.seed(1)
torch.set_num_threads(1)


class Chain:
    """ten cells; reward only at the far end, one wrong move sends the agent one cell back"""

    def __init__(self, n=10):
        self.n = n

    def reset(self):
        self.pos, self.t = np.random.randint(0, self.n - 1), 0
        return self._o()

    def _o(self):
        o = np.zeros(self.n, dtype=np.float32)
        o[self.pos] = 1
        return o

    def step(self, a):
        self.t += 1
        self.pos = self.pos + 1 if a == self.pos % 3 else max(0, self.pos - 1)
        win = self.pos == self.n - 1
        return self._o(), float(win), win, self.t >= 40


class Agent:
    def __init__(self, n, k):
        self.online = nn.Sequential(nn.Linear(n, 48), nn.ReLU(), nn.Linear(48, k))
        self.target = copy.deepcopy(self.online)
        self.opt = torch.optim.Adam(self.online.parameters(), lr=3e-3)
        self.k = k
        self.buf = []

    def act(self, o, eps):
        if np.random.rand() < eps:
            return np.random.randint(self.k)
        with torch.no_grad():
            return int(self.online(torch.from_numpy(o)).argmax())

    def sync(self):
        self.target.load_state_dict(self.online.state_dict())

    def update(self):
        idx = np.random.randint(0, len(self.buf), 32)
        o, a, r, o2, d = map(np.array, zip(*[self.buf[i] for i in idx]))
        o, o2 = torch.from_numpy(o), torch.from_numpy(o2)
        qsa = self.online(o).gather(1, torch.from_numpy(a)[:, None])[:, 0]
        with torch.no_grad():
            best = self.online(o2).argmax(1, keepdim=True)
            nxt = self.target(o2).gather(1, best)[:, 0]
            y = torch.tensor(r, dtype=torch.float32) + 0.95 * nxt * (1 - torch.tensor(d, dtype=torch.float32))
        loss = F.smooth_l1_loss(qsa, y)
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        return loss.item()


env, agent, total, wins = Chain(), Agent(10, 3), 0, []
for ep in range(150):
    o, over = env.reset(), False
    eps = max(0.05, 1 - ep / 75)
    while not over:
        a = agent.act(o, eps)
        o2, r, win, timeout = env.step(a)
        agent.buf.append((o, a, r, o2, win))
        o, over, total = o2, win or timeout, total + 1
        if total > 200 and total % 2 == 0:
            loss = agent.update()
        if total % 100 == 0:
            agent.sync()
    wins.append(win)
    if ep % 50 == 49:
        print(f"ep {ep + 1} wins {np.mean(wins[-50:]):.2f} loss {loss:.5f}")
with torch.no_grad():
    pol = agent.online(torch.eye(10)[:9]).argmax(1).numpy()
print("greedy actions right in", (pol == np.arange(9) % 3).mean().round(2), "of the cells")
