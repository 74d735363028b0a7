"""A program that closes all descriptors, as daemons do, and then opens files of its own: they hold what it writes."""

import errno
import os

import torch
from torch import nn

torch.manual_seed(0)


def train(steps):
    global model, optimizer
    for _ in range(steps):
        x = torch.randn(16, 8)
        loss = nn.functional.cross_entropy(model(x), x[:, :4].argmax(1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(loss.item())


model = nn.Linear(8, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
train(20)
os.closerange(3, 1024)
files = [os.fdopen(os.open(f"first{n}.txt", os.O_WRONLY | os.O_CREAT), "w") for n in range(12)]
for n, file in enumerate(files):
    file.write(f"results of {n}\n")
train(200)
for file in files:
    file.close()
for number in range(3, 256):
    try:
        os.close(number)
    except OSError as error:
        assert error.errno == errno.EBADF
more = [os.open(f"second{n}.bin", os.O_RDWR | os.O_CREAT) for n in range(12)]
for number in more:
    os.write(number, b"0123456789" * 1000)
train(200)
for number in more:
    assert os.fstat(number).st_size == 10_000
    os.close(number)
print("done")
