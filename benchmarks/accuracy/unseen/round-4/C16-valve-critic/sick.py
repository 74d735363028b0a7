import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical


class Valves:
    """Eight tanks; from each level one of three valve settings is right and pays what the level is worth."""

    def __init__(self, seed, n=32, horizon=5):
        self.rng = np.random.default_rng(seed)
        self.n, self.horizon = n, horizon
        self.right = np.array([0, 2, 1, 1, 0, 2, 0, 1])
        self.worth = np.linspace(-12, 12, 8)

    def reset(self):
        self.t = 0
        self.level = self.rng.integers(0, 8, self.n)
        return np.eye(8, dtype=np.float32)[self.level]

    def step(self, action):
        reward = self.worth[self.level] + (action == self.right[self.level])
        self.level = self.rng.integers(0, 8, self.n)
        self.t += 1
        return np.eye(8, dtype=np.float32)[self.level], reward.astype(np.float32), self.t >= self.horizon


class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.pi = nn.Sequential(nn.Linear(8, 32), nn.Tanh(), nn.Linear(32, 3))
        self.v = nn.Sequential(nn.Linear(8, 32), nn.Tanh(), nn.Linear(32, 1))

    def forward(self, obs):
        return Categorical(logits=self.pi(obs)), self.v(obs)


def rollout(env, net):
    obs, steps = env.reset(), []
    done = False
    while not done:
        o = torch.from_numpy(obs)
        with torch.no_grad():
            action = net(o)[0].sample()
        obs, reward, done = env.step(action.numpy())
        steps.append((o, action, torch.from_numpy(reward)))
    ret, returns = torch.zeros(env.n), []
    for _, _, r in reversed(steps):
        ret = r + 0.3 * ret
        returns.append(ret)
    returns.reverse()
    return torch.cat([s[0] for s in steps]), torch.cat([s[1] for s in steps]), torch.cat(returns)


def main():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    env, net = Valves(0), ActorCritic()
    opt = torch.optim.Adam(net.parameters(), lr=5e-3)
    for it in range(140):
        obs, actions, returns = rollout(env, net)
        dist, values = net(obs)
        advantage = returns - values  # <- PM501
        critic_loss = advantage.pow(2).mean()
        actor_loss = -(dist.log_prob(actions) * advantage.detach()).mean()
        loss = actor_loss + 0.5 * critic_loss - 0.005 * dist.entropy().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        if it % 35 == 34:
            print(f"iteration {it + 1} critic {critic_loss.item():.3f}")
    with torch.no_grad():
        dist, values = net(torch.eye(8))
    right = torch.from_numpy(env.right)
    print(f"probability of the right valve {dist.probs[torch.arange(8), right].mean():.3f}")
    print("value of the levels", [round(v, 1) for v in values.flatten().tolist()])


if __name__ == "__main__":
    main()
