"""A2C, n-step returns, a shared trunk and several environments, with RMSprop and a linear learning-rate schedule."""

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim

torch.set_num_threads(1)
torch.manual_seed(2)
ENVS, STEPS, GAMMA, UPDATES = 16, 5, 0.9, 350


class Signals:
    """See one of four symbols, press its button; the mapping is shifted by a context bit."""

    def __init__(self):
        self.draw()

    def draw(self):
        self.symbol, self.context = torch.randint(4, (ENVS,)), torch.randint(2, (ENVS,))

    def obs(self):
        return torch.cat([F.one_hot(self.symbol, 4), F.one_hot(self.context, 2)], 1).float()

    def act(self, action):
        reward = (action == (self.symbol + self.context) % 4).float()
        self.draw()
        return reward


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(6, 64), nn.ReLU())
        self.pi, self.v = nn.Linear(64, 4), nn.Linear(64, 1)

    def forward(self, x):
        h = self.trunk(x)
        return F.log_softmax(self.pi(h), dim=-1), self.v(h).squeeze(-1)


net, env = Net(), Signals()
optimizer = optim.RMSprop(net.parameters(), lr=4e-3, alpha=0.99, eps=1e-5)
scheduler = optim.lr_scheduler.LambdaLR(optimizer, lambda u: 1 - 0.9 * u / UPDATES)
score = []
for update in range(UPDATES):
    log_probs, values, rewards, entropies = [], [], [], []
    for _ in range(STEPS):
        log_pi, value = net(env.obs())
        action = torch.multinomial(log_pi.exp(), 1)
        reward = env.act(action.squeeze(1))
        log_probs.append(log_pi.gather(1, action).squeeze(1))
        entropies.append(-(log_pi.exp() * log_pi).sum(1))
        values.append(value)
        rewards.append(reward)
    with torch.no_grad():
        _, bootstrap = net(env.obs())
    returns, running = [], bootstrap
    for reward in reversed(rewards):
        running = reward + GAMMA * running
        returns.insert(0, running)
    returns, values = torch.stack(returns), torch.stack(values)
    advantage = returns - values
    policy_loss = -(torch.stack(log_probs) * advantage.detach()).mean()
    value_loss = advantage.pow(2).mean()
    loss = policy_loss + 0.5 * value_loss - 0.02 * torch.stack(entropies).mean()
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 0.5)
    optimizer.step()
    scheduler.step()
    score.append(torch.stack(rewards).mean().item())
    if update % 50 == 0:
        print(update, loss.item(), score[-1])
print(sum(score[:20]) / 20, sum(score[-20:]) / 20)
assert sum(score[-20:]) / 20 > 0.8
