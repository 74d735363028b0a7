"""DQN on a little grid corridor."""
import random
from collections import deque
import torch
import torch.nn as nn

SIZE = 8
random.seed(0)
torch.manual_seed(0)


def onehot(s):
    v = torch.zeros(SIZE)
    v[s] = 1
    return v


class QNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.l1 = nn.Linear(SIZE, 32)
        self.l2 = nn.Linear(32, 2)

    def forward(self, x):
        return self.l2(torch.relu(self.l1(x)))


class DoubleDQN:
    def __init__(self, model, gamma=0.9):
        self.policy_net = model
        self.target_net = model
        self.target_net.load_state_dict(self.policy_net.state_dict())
        self.opt = torch.optim.Adam(self.policy_net.parameters(), lr=2e-3)
        self.memory = deque(maxlen=2000)
        self.gamma = gamma
        self.updates = 0

    def act(self, s, eps):
        if random.random() < eps:
            return random.randrange(2)
        with torch.no_grad():
            return self.policy_net(onehot(s)[None]).argmax(1).item()

    def update(self, n=32):
        if len(self.memory) < n:
            return
        batch = random.sample(self.memory, n)
        s = torch.stack([onehot(b[0]) for b in batch])
        a = torch.tensor([b[1] for b in batch])[:, None]
        r = torch.tensor([b[2] for b in batch])[:, None]
        s2 = torch.stack([onehot(b[3]) for b in batch])
        d = torch.tensor([float(b[4]) for b in batch])[:, None]
        q = self.policy_net(s).gather(1, a)
        q_next = self.target_net(s2).max(1, keepdim=True)[0]
        target = r + self.gamma * q_next * (1 - d)
        loss = nn.functional.mse_loss(q, target)
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        self.updates += 1
        if self.updates % 50 == 0:
            self.target_net.load_state_dict(self.policy_net.state_dict())


agent = DoubleDQN(QNet())
for ep in range(80):
    s, total = 0, 0.0
    for t in range(25):
        a = agent.act(s, max(0.1, 1 - ep / 30))
        s2 = max(0, s - 1) if a == 0 else s + 1
        done = s2 == SIZE - 1
        r = 1.0 if done else -0.02
        agent.memory.append((s, a, r, s2, done))
        agent.update()
        s, total = s2, total + r
        if done:
            break
    if ep % 20 == 0:
        print(ep, total)
