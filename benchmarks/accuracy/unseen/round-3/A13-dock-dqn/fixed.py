"""DQN that docks a boat: push left, drift or push right until it rests at the pier."""
import random
from collections import deque

import numpy as np
import torch
from torch import nn


class DockEnv:
    """State: position, velocity, position of the pier. Reward is minus the distance, plus 5 for a soft docking."""
    n_actions = 3

    def __init__(self, seed=0, horizon=50):
        self.rng = np.random.default_rng(seed)
        self.horizon = horizon

    def reset(self):
        self.t = 0
        self.state = np.array([self.rng.uniform(-1, 1), 0.0, self.rng.uniform(-0.7, 0.7)], dtype=np.float32)
        return self.state.copy()

    def step(self, action):
        self.t += 1
        self.state[1] = 0.9 * self.state[1] + 0.04 * (action - 1)
        self.state[0] = np.clip(self.state[0] + self.state[1], -1.2, 1.2)
        gap = abs(self.state[0] - self.state[2])
        docked = gap < 0.06 and abs(self.state[1]) < 0.05
        reward = 5.0 if docked else -gap
        return self.state.copy(), float(reward), bool(docked), self.t >= self.horizon


class ReplayBuffer:
    def __init__(self, capacity=5000):
        self.data = deque(maxlen=capacity)

    def push(self, *transition):
        self.data.append(transition)

    def sample(self, n):
        s, a, r, s2, d = zip(*random.sample(self.data, n))
        return (torch.from_numpy(np.stack(s)), torch.tensor(a), torch.tensor(r),
                torch.from_numpy(np.stack(s2)), torch.tensor(d, dtype=torch.float32))

    def __len__(self):
        return len(self.data)


def q_network():
    return nn.Sequential(nn.Linear(3, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, DockEnv.n_actions))


class Agent:
    def __init__(self, gamma=0.97, lr=1e-3):
        self.q, self.target = q_network(), q_network()
        self.target.load_state_dict(self.q.state_dict())
        self.opt = torch.optim.Adam(self.q.parameters(), lr=lr)
        self.gamma = gamma

    @torch.no_grad()
    def act(self, state, eps):
        if random.random() < eps:
            return random.randrange(DockEnv.n_actions)
        return self.q(torch.from_numpy(state)).argmax().item()

    def learn(self, batch):
        s, a, r, s2, d = batch
        with torch.no_grad():
            best = self.q(s2).argmax(1, keepdim=True)
            y = r + self.gamma * (1 - d) * self.target(s2).gather(1, best).squeeze(1)
        q = self.q(s).gather(1, a.unsqueeze(1)).squeeze(1)
        loss = nn.functional.smooth_l1_loss(q, y)
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        return loss.item()


def play(agent, episodes=30):
    env, returns, docks = DockEnv(seed=777), [], 0
    for _ in range(episodes):
        s, over, total = env.reset(), False, 0.0
        while not over:
            s, r, docked, timeout = env.step(agent.act(s, 0.0))
            total, over = total + r, docked or timeout
        returns.append(total)
        docks += docked
    return np.mean(returns), docks / episodes


def main():
    random.seed(1)
    torch.manual_seed(1)
    env, memory, agent = DockEnv(seed=1), ReplayBuffer(), Agent()
    steps, losses = 0, []
    for episode in range(1, 161):
        state, over = env.reset(), False
        eps = max(0.05, 1.0 - episode / 80)
        while not over:
            action = agent.act(state, eps)
            next_state, reward, docked, timeout = env.step(action)
            memory.push(state, action, reward, next_state, docked)
            state, over = next_state, docked or timeout
            steps += 1
            if len(memory) > 300:
                losses.append(agent.learn(memory.sample(64)))
            if steps % 200 == 0:
                agent.target.load_state_dict(agent.q.state_dict())
        if episode % 40 == 0:
            ret, rate = play(agent)
            print(f"episode {episode} loss {np.mean(losses[-200:]):.4f} greedy return {ret:.2f} docked {rate:.0%}")


if __name__ == "__main__":
    main()
