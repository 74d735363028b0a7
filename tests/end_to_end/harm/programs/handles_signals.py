"""Signal handlers and timers that count, and the handlers that were there before."""

import signal
import time

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)

ticks = []
signal.signal(signal.SIGALRM, lambda *_: ticks.append("alarm"))
signal.signal(signal.SIGUSR1, lambda *_: ticks.append("usr1"))
signal.signal(signal.SIGTERM, lambda *_: ticks.append("term"))
print(signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGHUP), signal.getsignal(signal.SIGUSR2))
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
signal.raise_signal(signal.SIGUSR1)
signal.raise_signal(signal.SIGTERM)
signal.setitimer(signal.ITIMER_REAL, 0.05)
time.sleep(0.2)
print(ticks, signal.getitimer(signal.ITIMER_REAL), sorted(signal.pthread_sigmask(signal.SIG_BLOCK, [])))
try:
    signal.raise_signal(signal.SIGINT)
except KeyboardInterrupt:
    print("interrupted")
