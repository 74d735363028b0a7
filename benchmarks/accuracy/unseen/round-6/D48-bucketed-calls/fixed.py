import random

import torch
import torch.nn as nn
from torch.nn.utils.rnn import pad_sequence

CLASSES = 4


def bird_calls(n, seed):
    g = random.Random(seed)
    torch.manual_seed(seed)
    rows = []
    for _ in range(n):
        c = g.randrange(CLASSES)
        length = 12 + 7 * c + g.randrange(6)
        call = torch.randn(length, 4)
        call[:, c] += 0.9
        rows.append((call, c))
    return rows


def make_batches(rows, size):
    rows = random.sample(rows, len(rows))
    for i in range(0, len(rows), size):
        calls, labels = zip(*rows[i:i + size])
        lengths = torch.tensor([len(c) for c in calls])
        yield pad_sequence(calls, batch_first=True), lengths, torch.tensor(labels)


class CallNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.frame = nn.Sequential(nn.Linear(4, 48), nn.ReLU(), nn.Linear(48, 48), nn.ReLU())
        self.out = nn.Linear(48, CLASSES)

    def forward(self, calls, lengths):
        h = self.frame(calls)
        keep = (torch.arange(h.size(1))[None] < lengths[:, None]).unsqueeze(-1)
        return self.out((h * keep).sum(1) / lengths[:, None])


def evaluate(net, rows):
    net.eval()
    with torch.no_grad():
        hit = sum((net(x, n).argmax(1) == y).sum().item() for x, n, y in make_batches(rows, 64))
    return hit / len(rows)


def run():
    torch.set_num_threads(1)
    random.seed(0)
    train, val = bird_calls(1200, 1), bird_calls(400, 2)
    torch.manual_seed(0)
    net = CallNet()
    opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    for epoch in range(10):
        net.train()
        for x, n, y in make_batches(train, 16):
            loss = nn.functional.cross_entropy(net(x, n), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
        print(f"epoch {epoch + 1}: last loss {loss.item():.3f}  validation accuracy {evaluate(net, val):.3f}")


run()
