"""Training in an event loop, beside another task, with context variables."""

import asyncio
import contextvars

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)

stage = contextvars.ContextVar("stage", default="none")
heard = []


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(8, 16), nn.Linear(16, 3)

    def forward(self, x):
        heard.append(stage.get())
        stage.set(f"forward {len(heard)}")
        return self.last(F.relu(self.first(x)))


async def beats():
    count = 0
    while not done.is_set():
        count += 1
        heard.append("beat")
        await asyncio.sleep(0)
    return count


async def train():
    stage.set("train")
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(30):
        x = torch.randn(16, 8)
        y = x[:, :3].argmax(1)
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(step, loss.item(), stage.get())
        await asyncio.sleep(0)
    done.set()


async def main():
    global done
    done = asyncio.Event()
    print(await asyncio.gather(train(), beats()))


asyncio.run(main())
print(heard, stage.get())
