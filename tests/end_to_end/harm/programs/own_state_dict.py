"""A model whose state_dict() counts and whose hooks write a line: they run as often as the program saves and loads."""

import torch
from torch import nn

torch.manual_seed(0)
calls = {"state_dict": 0, "hook": 0}


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 4)
        self.register_state_dict_post_hook(self.saved)

    @staticmethod
    def saved(module, state, prefix, metadata):
        calls["hook"] += 1
        with open("saves.txt", "a") as file:
            file.write(f"save {calls['hook']}\n")

    def state_dict(self, *args, **kwargs):
        calls["state_dict"] += 1
        return super().state_dict(*args, **kwargs)

    def forward(self, x):
        return self.layer(x)


model, copy = Net(), Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(40):
    x = torch.randn(16, 8)
    loss = nn.functional.cross_entropy(model(x), x[:, :4].argmax(1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 9:
        copy.load_state_dict(model.state_dict())
        print(step, loss.item(), calls)
