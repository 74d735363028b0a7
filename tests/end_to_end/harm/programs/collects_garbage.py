"""A program that manages the collector: counts objects, freezes, disables, callbacks, debug flags."""

import gc

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)

model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
gc.collect()
gc.freeze()
frozen = gc.get_freeze_count()
gc.disable()
collections = []
gc.callbacks.append(lambda phase, info: collections.append((phase, info["generation"])))


class Node:
    pass


def cycle():
    first, second = Node(), Node()
    first.other, second.other = second, first


optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(30):
    x = torch.randn(16, 8)
    y = x[:, :3].argmax(1)
    loss = F.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    cycle()
    alive = sum(type(each) is Node for each in gc.get_objects())
    modules = sum(isinstance(each, nn.Linear) for each in gc.get_objects())
    print(step, loss.item(), alive, modules, gc.isenabled(), gc.get_threshold(), len(collections))
    if step % 10 == 9:
        gc.collect(0)
print(gc.get_freeze_count() <= frozen, gc.get_debug(), len(gc.garbage), collections)
