"""DQN with a target network on a corridor; element-wise gradient clipping that rarely bites."""

import random
from collections import deque

import torch
import torch.nn.functional as F
from torch import nn

SIZE, LIMIT, GAMMA = 8, 30, 0.95


class Corridor:
    """Fetch the key at the left end, then leave by the door at the right end."""

    def reset(self) -> torch.Tensor:
        self.place, self.key, self.clock = random.randrange(1, SIZE - 1), False, 0
        return self.observe()

    def observe(self) -> torch.Tensor:
        return torch.tensor([2 * self.place / (SIZE - 1) - 1, float(self.key)])

    def step(self, action: int) -> tuple[torch.Tensor, float, bool, bool]:
        self.place = min(max(self.place + (1 if action else -1), 0), SIZE - 1)
        self.clock += 1
        self.key = self.key or self.place == 0
        solved = self.key and self.place == SIZE - 1
        return self.observe(), 1.0 if solved else -0.02, solved, self.clock >= LIMIT


def make_net() -> nn.Module:
    return nn.Sequential(nn.Linear(2, 48), nn.ReLU(), nn.Linear(48, 48), nn.ReLU(), nn.Linear(48, 2))


@torch.no_grad()
def greedy_return(net: nn.Module, episodes: int) -> float:
    env, total = Corridor(), 0.0
    for _ in range(episodes):
        state, stop = env.reset(), False
        while not stop:
            state, reward, done, late = env.step(int(net(state).argmax()))
            total, stop = total + reward, done or late
    return total / episodes


random.seed(0)
torch.set_num_threads(1)
torch.manual_seed(0)
online, target = make_net(), make_net()
target.load_state_dict(online.state_dict())
target.requires_grad_(False)
agent = nn.ModuleDict({"online": online, "target": target})
optimizer = torch.optim.Adam(online.parameters(), lr=2e-3)
memory: deque = deque(maxlen=3000)
env = Corridor()
print(f"before training: return {greedy_return(online, 20):.2f}")

updates = 0
for episode in range(1, 121):
    state, stop = env.reset(), False
    epsilon = max(0.1, 1 - episode / 60)
    while not stop:
        if random.random() < epsilon:
            action = random.randrange(2)
        else:
            with torch.no_grad():
                action = int(online(state).argmax())
        following, reward, done, late = env.step(action)
        memory.append((state, action, reward, following, done))
        state, stop = following, done or late
        if len(memory) < 200 or env.clock % 4:
            continue

        states, actions, rewards, followings, dones = zip(*random.sample(memory, 64))
        with torch.no_grad():
            best = target(torch.stack(followings)).max(1).values
            goal = torch.tensor(rewards) + GAMMA * best * (1 - torch.tensor(dones, dtype=torch.float32))
        value = online(torch.stack(states)).gather(1, torch.tensor(actions).unsqueeze(1)).squeeze(1)
        loss = F.smooth_l1_loss(value, goal)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_value_(agent.parameters(), 1.0)
        optimizer.step()
        updates += 1
        if updates % 40 == 0:
            target.load_state_dict(online.state_dict())
    if episode % 30 == 0:
        print(
            f"episode {episode}: updates {updates}  loss {loss.item():.1e}  "
            f"greedy return {greedy_return(online, 20):.2f}"
        )
