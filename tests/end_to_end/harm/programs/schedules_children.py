"""A program that waits for any child, as a small scheduler does: it sees its own, and is told of no other."""

import importlib
import os
import signal

told = []
mine = {os.fork() or os._exit(n) for n in range(3)}
torch = importlib.import_module("torch")
nn = torch.nn

ended = set()
while True:
    try:
        ended.add(os.wait()[0])
    except ChildProcessError:
        break
print(ended == mine, len(ended))
signal.signal(signal.SIGCHLD, lambda number, frame: told.append(number))
torch.manual_seed(0)
model = nn.Linear(8, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(60):
    x = torch.randn(16, 8)
    loss = nn.functional.cross_entropy(model(x), x[:, :4].argmax(1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    try:
        print("a child that nobody has started:", os.waitpid(-1, os.WNOHANG))
    except ChildProcessError:
        told += [step] if step == 30 else []
print(loss.item(), told)
