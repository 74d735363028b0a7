"""Q-learning with a target network on a chain of states; reward only at the right end."""
import copy
import random

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
N_STATES, GAMMA = 6, 0.9


class QNet(nn.Module):
    def __init__(self, hidden=24):
        super().__init__()
        self.fc1 = nn.Linear(N_STATES, hidden)
        self.fc2 = nn.Linear(hidden, 2)

    def forward(self, obs):
        return self.fc2(F.relu(self.fc1(obs)))


class Chain:
    def reset(self):
        self.s = 0
        return self.s

    def step(self, action):
        self.s = min(self.s + 1, N_STATES - 1) if action == 1 else max(self.s - 1, 0)
        done = self.s == N_STATES - 1
        return self.s, float(done), done


class DQN:
    def __init__(self, target_update_cycle=20):
        self.eval_net = QNet()
        self.target_net = copy.deepcopy(self.eval_net)
        self.optimizer = torch.optim.RMSprop(self.eval_net.parameters(), lr=2e-3)
        self.target_update_cycle = target_update_cycle

    def learn(self, batch, train_step):
        s, a, r, s2, done = (torch.tensor(column) for column in zip(*batch))
        q = self.eval_net(F.one_hot(s, N_STATES).float()).gather(1, a.unsqueeze(1)).squeeze(1)
        with torch.no_grad():
            q_next = self.target_net(F.one_hot(s2, N_STATES).float()).max(1).values
        target = r + GAMMA * (1 - done.float()) * q_next
        loss = F.mse_loss(q, target)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        if train_step > 0 and train_step % self.target_update_cycle == 0:
            self.target_net.load_state_dict(self.eval_net.state_dict())
        return loss.item()


def main():
    random.seed(0)
    torch.manual_seed(0)
    env, agent, memory = Chain(), DQN(), []
    s = env.reset()
    for t in range(2000):
        a = random.randrange(2)
        s2, r, done = env.step(a)
        memory.append((s, a, r, s2, done))
        s = env.reset() if done else s2
        if t >= 200 and t % 4 == 0:
            loss = agent.learn(random.sample(memory, 32), t // 4 - 50)
            if t % 400 == 0:
                values = agent.eval_net(torch.eye(N_STATES)).max(1).values.detach()
                print(f"t {t} loss {loss:.4f} values {[round(v, 2) for v in values.tolist()]}")


if __name__ == "__main__":
    main()
