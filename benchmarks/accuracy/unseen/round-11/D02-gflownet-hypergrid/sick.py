import math

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)


class HyperGrid:
    """2-d grid; actions: +x, +y, stop. Reward has four modes near the corners."""

    def __init__(self, length=8, r0=0.01):
        self.length = length
        self.n_actions = 3
        self.eos = 2
        ax = (torch.arange(length) / (length - 1) - 0.5).abs()
        outer = (ax > 0.25).float()
        inner = ((ax > 0.3) & (ax < 0.4)).float()
        self.reward = r0 + 0.5 * outer[:, None] * outer[None, :] + 2.0 * inner[:, None] * inner[None, :]

    def encode(self, states):
        return F.one_hot(states, self.length).flatten(1).float()

    def invalid_forward(self, states):
        inv = torch.zeros(len(states), self.n_actions, dtype=torch.bool)
        inv[:, :2] = states == self.length - 1
        return inv

    def invalid_backward(self, states):
        return states == 0

    def get_logprobs(self, policy_outputs, is_forward, actions, states):
        if is_forward:
            logits = policy_outputs.clone().detach()
            mask = self.invalid_forward(states)
        else:
            logits = torch.zeros(len(states), 2)
            mask = self.invalid_backward(states)
        logits = logits.masked_fill(mask, -1e4)
        return torch.log_softmax(logits, 1).gather(1, actions[:, None]).squeeze(1)

    def log_reward(self, states):
        return self.reward[states[:, 0], states[:, 1]].log()


class Agent:
    def __init__(self, env, hidden=96, lr=2e-3, lr_z=5e-2):
        self.env = env
        self.policy = nn.Sequential(
            nn.Linear(2 * env.length, hidden), nn.LeakyReLU(),
            nn.Linear(hidden, hidden), nn.LeakyReLU(),
            nn.Linear(hidden, env.n_actions),
        )
        self.logZ = nn.Parameter(torch.zeros(16))
        self.opt = torch.optim.Adam([
            {"params": self.policy.parameters(), "lr": lr},
            {"params": [self.logZ], "lr": lr_z / 16},
        ])

    def rollout(self, n, explore=0.05):
        env = self.env
        s = torch.zeros(n, 2, dtype=torch.long)
        active = torch.ones(n, dtype=torch.bool)
        log_pf, log_pb = torch.zeros(n), torch.zeros(n)
        while active.any():
            idx = active.nonzero().squeeze(1)
            st = s[idx]
            out = self.policy(env.encode(st))
            with torch.no_grad():
                bad = env.invalid_forward(st)
                p = torch.softmax(out.masked_fill(bad, -1e4), 1)
                u = (~bad).float()
                p = (1 - explore) * p + explore * u / u.sum(1, keepdim=True)
                a = torch.multinomial(p, 1).squeeze(1)
            log_pf = log_pf.index_add(0, idx, env.get_logprobs(out, True, a, st))
            move = a != env.eos
            new = st.clone()
            new[move, a[move]] += 1
            if move.any():
                log_pb = log_pb.index_add(0, idx[move], env.get_logprobs(None, False, a[move], new[move]))
            s[idx] = new
            active[idx[~move]] = False
        return s, log_pf, log_pb

    def tb_loss(self, n):
        s, log_pf, log_pb = self.rollout(n)
        return (self.logZ.sum() + log_pf - log_pb - self.env.log_reward(s)).pow(2).mean()

    def train_step(self, n):
        loss = self.tb_loss(n)
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        return loss.item()


@torch.no_grad()
def l1_to_target(agent, n=4000):
    s, _, _ = agent.rollout(n, explore=0.0)
    L = agent.env.length
    emp = torch.bincount(s[:, 0] * L + s[:, 1], minlength=L * L).float() / n
    target = (agent.env.reward / agent.env.reward.sum()).flatten()
    return (emp - target).abs().sum().item()


if __name__ == "__main__":
    torch.manual_seed(0)
    env = HyperGrid()
    agent = Agent(env)
    print("true logZ", math.log(env.reward.sum().item()))
    running = 0.0
    for it in range(1, 301):
        running += agent.train_step(48)
        if it % 100 == 0:
            print(f"iter {it}  TB loss {running / 100:.4f}  logZ {agent.logZ.sum().item():.3f}  L1 {l1_to_target(agent):.3f}")
            running = 0.0
