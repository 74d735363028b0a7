"""Double DQN in a maze with one distant reward: the loss starts at nothing and grows while the agent learns."""

import copy
import random
from collections import deque

import torch
import torch.nn.functional as F
from torch import Tensor, nn

MAZE = [
    "..#...",
    "..#.#.",
    "#...#.",
    "..#.#G",
]
GOAL = (3, 5)
MOVES = ((0, 1), (1, 0), (0, -1), (-1, 0))
FREE = [(r, c) for r, row in enumerate(MAZE) for c, cell in enumerate(row) if cell != "#"]
GAMMA, LIMIT = 0.95, 40


def move(cell: tuple[int, int], action: int) -> tuple[tuple[int, int], float, bool]:
    target = (cell[0] + MOVES[action][0], cell[1] + MOVES[action][1])
    cell = target if target in FREE else cell
    return cell, 10.0 * (cell == GOAL), cell == GOAL


class Agent:
    def __init__(self) -> None:
        self.q = nn.Sequential(nn.Linear(len(FREE), 64), nn.ReLU(), nn.Linear(64, len(MOVES)))
        nn.init.normal_(self.q[-1].weight, std=1e-3)
        nn.init.zeros_(self.q[-1].bias)
        self.target = copy.deepcopy(self.q).requires_grad_(False)
        self.optimizer = torch.optim.Adam(self.q.parameters(), lr=5e-3)
        self.memory: deque[tuple[int, int, float, int, float]] = deque(maxlen=5000)

    def act(self, cell: int, epsilon: float) -> int:
        if random.random() < epsilon:
            return random.randrange(len(MOVES))
        with torch.no_grad():
            return int(self.q(one_hot(torch.tensor([cell]))).argmax())

    def learn(self, batch_size: int = 64) -> float:
        cells, actions, rewards, following, done = map(torch.tensor, zip(*random.sample(self.memory, batch_size)))
        value = self.q(one_hot(cells)).gather(1, actions[:, None]).squeeze(1)
        with torch.no_grad():
            best = self.q(one_hot(following)).argmax(dim=1, keepdim=True)
            future = self.target(one_hot(following)).gather(1, best).squeeze(1)
        loss = F.smooth_l1_loss(value, rewards + GAMMA * (1 - done) * future)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


def one_hot(cells: Tensor) -> Tensor:
    return F.one_hot(cells, len(FREE)).float()


def explore(agent: Agent, epsilon: float) -> None:
    """Plays one episode from a random cell and remembers it."""
    cell, done, steps = random.choice(FREE[:-1]), False, 0
    while not done and steps < LIMIT:
        action = agent.act(FREE.index(cell), epsilon)
        following, reward, done = move(cell, action)
        agent.memory.append((FREE.index(cell), action, reward, FREE.index(following), float(done)))
        cell, steps = following, steps + 1


@torch.no_grad()
def solved(agent: Agent) -> float:
    """Share of the cells from which the greedy policy reaches the goal."""
    policy = agent.q(torch.eye(len(FREE))).argmax(dim=1).tolist()
    reached = 0
    for cell in FREE[:-1]:
        for _ in range(LIMIT):
            cell, _, done = move(cell, policy[FREE.index(cell)])
            if done:
                reached += 1
                break
    return reached / len(FREE[:-1])


torch.set_num_threads(1)
torch.manual_seed(0)
random.seed(0)
agent = Agent()
while len(agent.memory) < 300:
    explore(agent, epsilon=1.0)
for episode in range(1, 121):
    explore(agent, epsilon=max(0.1, 1 - episode / 80))
    losses = [agent.learn() for _ in range(5)]
    if episode % 2 == 0:
        agent.target.load_state_dict(agent.q.state_dict())
    if episode % 15 == 0:
        print(f"episode {episode:3d}  loss {sum(losses) / len(losses):.5f}  solved {solved(agent):.0%}")
