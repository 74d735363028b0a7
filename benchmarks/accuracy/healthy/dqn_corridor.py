"""DQN on a small corridor: the TD loss grows with the value estimates while the return improves."""

import copy
import random
from collections import deque

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
random.seed(0)
torch.manual_seed(0)

LENGTH, HORIZON, GAMMA = 8, 24, 0.97


class Corridor:
    """Walk right to the flag (+5), each step costs a little; start anywhere in the left half."""

    def reset(self):
        self.position, self.clock = random.randrange(LENGTH // 2), 0
        return self.state()

    def state(self):
        state = torch.zeros(LENGTH)
        state[self.position] = 1.0
        return state

    def step(self, action):
        self.clock += 1
        self.position = max(0, min(LENGTH - 1, self.position + (1 if action == 1 else -1)))
        won = self.position == LENGTH - 1
        return self.state(), (5.0 if won else -0.05), won or self.clock >= HORIZON


policy_net = nn.Sequential(nn.Linear(LENGTH, 32), nn.ReLU(), nn.Linear(32, 2))
target_net = copy.deepcopy(policy_net)
optimizer = torch.optim.Adam(policy_net.parameters(), lr=2e-3)
memory = deque(maxlen=4000)
env = Corridor()
returns, updates, epsilon = [], 0, 1.0

for episode in range(120):
    state, total, done = env.reset(), 0.0, False
    while not done:
        if random.random() < epsilon:
            action = random.randrange(2)
        else:
            with torch.no_grad():
                action = policy_net(state.unsqueeze(0)).argmax(1).item()
        next_state, reward, done = env.step(action)
        memory.append((state, action, reward, next_state, float(done)))
        state, total = next_state, total + reward

        if len(memory) < 64 or random.random() < 0.6:
            continue
        s, a, r, s2, d = zip(*random.sample(memory, 32))
        s, s2 = torch.stack(s), torch.stack(s2)
        a, r, d = torch.tensor(a).unsqueeze(1), torch.tensor(r), torch.tensor(d)
        q = policy_net(s).gather(1, a).squeeze(1)
        with torch.no_grad():
            target = r + GAMMA * (1 - d) * target_net(s2).max(1).values
        loss = F.smooth_l1_loss(q, target)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_value_(policy_net.parameters(), 1.0)
        optimizer.step()
        updates += 1
        if updates % 50 == 0:
            target_net.load_state_dict(policy_net.state_dict())
            print(f"update {updates} loss {loss.item()!r}")
    epsilon = max(0.05, epsilon * 0.96)
    returns.append(total)

print("return of the first 20 episodes", sum(returns[:20]) / 20)
print("return of the last 20 episodes", sum(returns[-20:]) / 20)
assert sum(returns[-20:]) / 20 > 4
