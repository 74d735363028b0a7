"""DQN on a corridor."""
import random
from collections import deque
import torch
import torch.nn as nn
import torch.nn.functional as F

random.seed(0)
torch.manual_seed(0)
N = 8


def step(s, a):
    s2 = max(0, min(N - 1, s + (1 if a == 1 else -1)))
    return s2, float(s2 == N - 1) - 0.01, s2 == N - 1


def onehot(s):
    return F.one_hot(torch.tensor(s), N).float()


q = nn.Sequential(nn.Linear(N, 32), nn.ReLU(), nn.Linear(32, 2))
q_target = nn.Sequential(nn.Linear(N, 32), nn.ReLU(), nn.Linear(32, 2))
q_target.load_state_dict(q.state_dict())
opt = torch.optim.Adam(q.parameters(), lr=2e-3)
memory, updates = deque(maxlen=2000), 0
for episode in range(40):
    s, done, t, ret = 0, False, 0, 0.0
    while not done and t < 30:
        eps = max(0.1, 1 - episode / 20)
        with torch.no_grad():
            a = random.randrange(2) if random.random() < eps else q(onehot(s)).argmax().item()
        s2, r, done = step(s, a)
        memory.append((s, a, r, s2, done))
        s, t, ret = s2, t + 1, ret + r
        if len(memory) < 64:
            continue
        batch = random.sample(memory, 32)
        states = onehot([b[0] for b in batch])
        actions = torch.tensor([b[1] for b in batch])
        rewards = torch.tensor([b[2] for b in batch])
        next_states = onehot([b[3] for b in batch])
        dones = torch.tensor([float(b[4]) for b in batch])
        values = q(states).gather(1, actions.unsqueeze(1))
        with torch.no_grad():
            best = q_target(next_states).max(1, keepdim=True)[0]
            target = rewards + 0.97 * best * (1 - dones)  # <- PM501
        loss = ((values - target) ** 2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        updates += 1
        if updates % 50 == 0:
            q_target.load_state_dict(q.state_dict())
    if episode % 10 == 9:
        print(episode, ret, loss.item())
