# REINFORCE on a batch of cart-poles (own physics, no gym)
import numpy as np
import torch
import torch.nn as nn
from torch.distributions import Categorical

torch.set_num_threads(1)
torch.manual_seed(0)
np.random.seed(0)

GAMMA = 0.98
N_ENVS = 12
MAX_STEPS = 150
ITERS = 40


class CartPoles:
    def __init__(self, n, seed):
        self.n = n
        self.rng = np.random.default_rng(seed)

    def reset(self):
        self.s = self.rng.uniform(-0.05, 0.05, (self.n, 4))
        self.alive = np.ones(self.n, dtype=bool)
        return self.s.copy()

    def step(self, a):
        x, xd, th, thd = self.s.T
        force = np.where(a == 1, 10.0, -10.0)
        c, s = np.cos(th), np.sin(th)
        tmp = (force + 0.05 * thd ** 2 * s) / 1.1
        tha = (9.8 * s - c * tmp) / (0.5 * (4 / 3 - 0.1 * c ** 2 / 1.1))
        xa = tmp - 0.05 * tha * c / 1.1
        self.s = np.stack([x + 0.02 * xd, xd + 0.02 * xa, th + 0.02 * thd, thd + 0.02 * tha], 1)
        reward = self.alive.astype(np.float32)
        self.alive &= (np.abs(self.s[:, 0]) < 2.4) & (np.abs(self.s[:, 2]) < 0.2095)
        return self.s.copy(), reward, ~self.alive


def discounted(rewards):
    out, running = [], torch.zeros(rewards.shape[1])
    for r in reversed(rewards.unbind(0)):
        running = r + GAMMA * running
        out.append(running)
    return torch.stack(out[::-1])


class Policy(nn.Module):
    def __init__(self, hidden=64):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, hidden), nn.Tanh(), nn.Linear(hidden, 2))

    def dist(self, obs):
        return Categorical(logits=self.net(obs))

    @torch.no_grad()
    def act(self, obs):
        return self.dist(obs).sample()

    def score(self, obs):
        dist = self.dist(obs)
        action = dist.sample()
        return dist.log_prob(action), dist.entropy()


policy = Policy()
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)
env = CartPoles(N_ENVS, 5)
scale = torch.tensor([1.0, 1.0, 5.0, 1.0])

for it in range(ITERS):
    obs = torch.as_tensor(env.reset(), dtype=torch.float32) * scale
    states, actions, rewards, masks = [], [], [], []
    for t in range(MAX_STEPS):
        act = policy.act(obs)
        states.append(obs)
        actions.append(act)
        masks.append(torch.as_tensor(env.alive.copy(), dtype=torch.float32))
        nxt, rew, done = env.step(act.numpy())
        rewards.append(torch.as_tensor(rew))
        obs = torch.as_tensor(nxt, dtype=torch.float32) * scale
        if done.all():
            break
    states, actions, rewards, masks = map(torch.stack, (states, actions, rewards, masks))
    logps, ents = policy.score(states)
    returns = discounted(rewards)
    live = masks.bool()
    adv = (returns - returns[live].mean()) / (returns[live].std() + 1e-6)
    loss = -(logps * adv * masks).sum() / masks.sum() - 0.003 * (ents * masks).sum() / masks.sum()
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
    optimizer.step()
    if it % 4 == 0 or it == ITERS - 1:
        print(f"iter {it:3d}  loss {loss.item():+.4f}  entropy {(ents * masks).sum() / masks.sum():.3f}  "
              f"mean episode length {masks.sum(0).mean():.1f}")
