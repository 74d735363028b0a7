"""A user of faulthandler: a dump after a time, on a signal, into a file of its own."""

import faulthandler
import signal

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)

log = open("faults.txt", "w")
faulthandler.enable(log)
faulthandler.register(signal.SIGUSR2, file=log, all_threads=False)
faulthandler.dump_traceback_later(300, file=log)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(30):
    x = torch.randn(16, 8)
    y = x[:, :3].argmax(1)
    loss = F.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
print(faulthandler.is_enabled())
faulthandler.cancel_dump_traceback_later()
faulthandler.unregister(signal.SIGUSR2)
log.close()
print(open("faults.txt").read())
