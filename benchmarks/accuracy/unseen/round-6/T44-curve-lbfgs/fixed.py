import math

import torch
from torch import nn

torch.manual_seed(4)
torch.set_num_threads(1)

x = torch.linspace(-1, 1, 200).unsqueeze(1)
y = torch.sin(2 * math.pi * x) + 0.3 * torch.cos(5 * math.pi * x)

net = nn.Sequential(nn.Linear(1, 30), nn.Tanh(), nn.Linear(30, 30), nn.Tanh(), nn.Linear(30, 1))
optimizer = torch.optim.LBFGS(net.parameters(), lr=1.0, max_iter=10, history_size=20, line_search_fn="strong_wolfe")
mse = nn.MSELoss()


def closure():
    optimizer.zero_grad()
    value = mse(net(x), y)
    value.backward()
    return value


for step in range(60):
    loss = closure()
    optimizer.step(closure)
    if step % 10 == 9:
        with torch.no_grad():
            print(f"step {step + 1}: mse {mse(net(x), y).item():.6f}")
