"""Actor-critic (discounted returns, value baseline, entropy bonus) on a slippery corridor."""
import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical


class Corridor:
    """Walk right to the goal; each move slips with probability 0.2, rewards are noisy."""

    def __init__(self, length=7, limit=30, seed=0):
        self.length, self.limit = length, limit
        self.rng = np.random.default_rng(seed)

    def reset(self):
        self.place, self.time = int(self.rng.integers(0, 3)), 0
        return self.observe()

    def observe(self):
        state = np.zeros(self.length + 1, np.float32)
        state[self.place] = 1.0
        state[-1] = self.time / self.limit
        return state

    def step(self, action):
        move = 1 if action == 1 else -1
        if self.rng.random() < 0.2:
            move = -move
        self.place = int(np.clip(self.place + move, 0, self.length - 1))
        self.time += 1
        done = self.place == self.length - 1
        reward = (5.0 if done else -0.1) + float(self.rng.normal(0, 0.3))
        return self.observe(), reward, done, self.time >= self.limit


class ActorCritic(nn.Module):
    def __init__(self, d_in, hidden=32):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(d_in, hidden), nn.Tanh())
        self.policy = nn.Linear(hidden, 2)
        self.value = nn.Linear(hidden, 1)

    def forward(self, x):
        h = self.body(x)
        return Categorical(logits=self.policy(h)), self.value(h).squeeze(-1)


def rollout(env, model, episodes):
    states, actions, returns, totals, lengths = [], [], [], [], []
    for _ in range(episodes):
        s, rewards = env.reset(), []
        while True:
            with torch.no_grad():
                dist, _ = model(torch.from_numpy(s))
            a = dist.sample().item()
            states.append(s)
            actions.append(a)
            s, r, done, timeout = env.step(a)
            rewards.append(r)
            if done or timeout:
                break
        g, out = 0.0, []
        for r in reversed(rewards):
            g = r + 0.97 * g
            out.append(g)
        returns += out[::-1]
        totals.append(sum(rewards))
        lengths.append(len(rewards))
    return (torch.from_numpy(np.array(states)), torch.tensor(actions), torch.tensor(returns, dtype=torch.float32),
            np.mean(totals), np.mean(lengths))


def main():
    torch.manual_seed(2)
    torch.set_num_threads(1)
    env = Corridor(seed=2)
    model = ActorCritic(env.length + 1)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for update in range(1, 151):
        states, actions, returns, total, length = rollout(env, model, episodes=6)
        dist, value = model(states)
        advantage = returns - value.detach()
        advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-6)
        policy_loss = -(dist.log_prob(actions) * advantage).mean()
        value_loss = nn.functional.mse_loss(value, returns)
        loss = policy_loss + 0.5 * value_loss - 0.01 * dist.entropy().mean()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if update % 15 == 0:
            print(f"update {update:3d} loss {loss.item():+.3f} policy {policy_loss.item():+.3f} "
                  f"value {value_loss.item():.3f} return {total:+.2f} steps {length:.1f}")


if __name__ == "__main__":
    main()
