"""Hogwild: two processes train one shared model without locks."""

import torch
import torch.multiprocessing as mp
import torch.nn as nn
import torch.nn.functional as F

W = torch.tensor([[2.0, -1.0, 0.5], [-1.0, 1.5, 1.0], [0.2, 0.3, -2.0], [1.0, 1.0, 1.0]])


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(4, 32), nn.Linear(32, 3)

    def forward(self, x):
        return F.log_softmax(self.fc2(torch.relu(self.fc1(x))), dim=1)


def batch(n, generator):
    x = torch.randn(n, 4, generator=generator)
    return x, (x @ W).argmax(1)


def train(rank, model, steps):
    torch.set_num_threads(1)
    generator = torch.Generator().manual_seed(100 + rank)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.5)
    model.train()
    for _ in range(steps):
        x, y = batch(32, generator)
        optimizer.zero_grad()
        F.nll_loss(model(x), y).backward()
        optimizer.step()


def accuracy(model):
    model.eval()
    with torch.no_grad():
        x, y = batch(2000, torch.Generator().manual_seed(0))
        return (model(x).argmax(1) == y).float().mean().item()


if __name__ == "__main__":
    torch.set_num_threads(1)
    torch.manual_seed(0)
    mp.set_start_method("spawn")
    model = Net()
    model.share_memory()
    before = accuracy(model)
    processes = []
    for rank in range(2):
        p = mp.Process(target=train, args=(rank, model, 120))
        p.start()
        processes.append(p)
    for p in processes:
        p.join()
    after = accuracy(model)
    print("exit codes", [p.exitcode for p in processes])
    print("better", after > before + 0.3, "good", after > 0.85)
    assert after > 0.85
